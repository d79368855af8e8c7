package pack

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// stay counts the tasks with the same node in both mappings.
func stay(a, b [][]Placement) (tasks int) {
	for job := range a {
		for _, p := range a[job] {
			for _, q := range b[job] {
				if p.Node == q.Node && p.Group == q.Group {
					tasks += int(min(p.Tasks, q.Tasks))
				}
			}
		}
	}
	return tasks
}

// contents returns the content of each node that is not empty.
func contents(places [][]Placement) map[int32]string {
	on := map[int32]string{}
	for job := range places {
		for _, p := range places[job] {
			on[p.Node] += fmt.Sprintf(" %d.%dx%d", job, p.Group, p.Tasks)
		}
	}
	return on
}

func TestMatchOnlyRenamesNodesAndNeverMovesMoreTasks(t *testing.T) {
	var p, earlier Packer
	better := 0
	rapid.Check(t, func(t *rapid.T) {
		m, jobs := problem(t)
		// The running tasks: an earlier packing of some of the jobs, pinned ones in place, on a
		// machine with all nodes up, with shifted node numbers.
		var before []Job
		var who []int
		for i := range jobs {
			if rapid.IntRange(0, 4).Draw(t, "runs") > 0 {
				before = append(before, jobs[i])
				who = append(who, i)
			}
		}
		slices.Reverse(before)
		slices.Reverse(who)
		kept, _ := earlier.Yield(&Machine{Nodes: m.Nodes, CPU: m.CPU, Memory: m.Memory}, before)
		current := make([][]Placement, len(jobs))
		shift := rapid.Int32Range(0, 3).Draw(t, "shift")
		for i := range kept {
			places := slices.Clone(earlier.Placements(i))
			if len(before[i].Pinned) == 0 {
				for k := range places {
					places[k].Node = (places[k].Node + shift) % m.Nodes
				}
				slices.SortFunc(places, byNode)
			}
			current[who[i]] = places
		}

		kept, _ = p.Yield(m, jobs)
		was := placesOf(&p, kept)
		p.Match(func(job int) []Placement { return current[job] })
		is := placesOf(&p, kept)

		if a, b := stay(was, current[:kept]), stay(is, current[:kept]); b < a {
			t.Fatalf("%d tasks stay where they are, %d did without", b, a)
		} else if b > a {
			better++
		}
		before2, after := contents(was), contents(is)
		if a, b := slices.Sorted(maps.Values(before2)), slices.Sorted(maps.Values(after)); !slices.Equal(a, b) {
			t.Fatalf("another packing: %q, was %q", b, a)
		}
		for node := range m.Nodes {
			pinned := m.Taken != nil && m.Taken[node] > 0
			for i := range jobs[:kept] {
				pinned = pinned || slices.ContainsFunc(jobs[i].Pinned, func(q Placement) bool { return q.Node == node })
			}
			if pinned && before2[node] != after[node] {
				t.Fatalf("node %d has pinned tasks and%s, had%s", node, after[node], before2[node])
			}
			if m.Down != nil && m.Down[node] && after[node] != "" {
				t.Fatalf("node %d is down and has%s", node, after[node])
			}
		}
		for i := range is {
			if !slices.IsSortedFunc(is[i], byNode) {
				t.Fatalf("places of job %d: %v, want them by node and group", i, is[i])
			}
		}
	})
	if better == 0 {
		t.Error("more tasks never stayed where they were")
	}
}

func TestMatchMovesNoTaskIfOnlyNodeNamesDiffer(t *testing.T) {
	m := &Machine{Nodes: 8, CPU: int64(batch.One), Memory: 100}
	jobs := []Job{
		{Order: 1, Groups: []Group{{Tasks: 3, CPU: batch.One, Memory: 60}}},
		{Order: 2, Groups: []Group{{Tasks: 4, CPU: batch.One / 4, Memory: 40}}},
		{Order: 3, Groups: []Group{{Tasks: 1, CPU: batch.One, Memory: 100}}},
	}
	var p Packer
	p.Yield(m, jobs)
	current := placesOf(&p, len(jobs))
	for job := range current {
		for i := range current[job] {
			current[job][i].Node = m.Nodes - 1 - current[job][i].Node
		}
		slices.SortFunc(current[job], byNode)
	}
	p.Match(func(job int) []Placement { return current[job] })
	for job := range jobs {
		if !slices.Equal(p.Placements(job), current[job]) {
			t.Errorf("job %d: %v, want %v as before", job, p.Placements(job), current[job])
		}
	}
}

func TestMatchPairsNodesWithTheMostCommonTasksFirst(t *testing.T) {
	m := &Machine{Nodes: 2, CPU: int64(batch.One), Memory: 100}
	jobs := []Job{
		{Order: 1, Groups: []Group{{Tasks: 2, CPU: batch.One / 2, Memory: 60}}},
		{Order: 2, Groups: []Group{{Tasks: 1, CPU: batch.One / 2, Memory: 40}}},
		{Order: 3, Groups: []Group{{Tasks: 1, CPU: batch.One / 2, Memory: 40}}}, // waits
	}
	current := [][]Placement{{{0, 0, 1}, {1, 0, 1}}, {{1, 0, 1}}, nil}
	var p Packer
	p.Yield(m, jobs)
	if got := p.Placements(1); !slices.Equal(got, []Placement{{0, 0, 1}}) {
		t.Fatalf("the second job is packed at %v, want it on node 0, or the test is void", got)
	}
	p.Match(func(job int) []Placement { return current[job] })
	if got := p.Placements(1); !slices.Equal(got, current[1]) {
		t.Errorf("the second job moves to %v, want it to stay at %v", got, current[1])
	}
}
