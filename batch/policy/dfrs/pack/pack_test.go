package pack

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// problem draws a machine and jobs: either few kinds of tasks, so that equal tasks and ties are
// common, or all different ones.
func problem(t *rapid.T) (*Machine, []Job) {
	m := &Machine{
		Nodes:  rapid.Int32Range(0, 12).Draw(t, "nodes"),
		CPU:    int64(batch.One) * rapid.Int64Range(1, 4).Draw(t, "processors"),
		Memory: rapid.SampledFrom([]int64{0, 10, 100, 1000, 1<<40 + 7, maxMemory}).Draw(t, "memory"),
	}
	if rapid.IntRange(0, 3).Draw(t, "some down") == 0 {
		m.Down = rapid.SliceOfN(rapid.Bool(), int(m.Nodes), int(m.Nodes)).Draw(t, "down")
	}
	kind := rapid.SampledFrom([]string{"paper", "small", "odd"}).Draw(t, "kind")
	pin := rapid.IntRange(0, 2).Draw(t, "pinned")
	w := world{m: m, free: make([]int64, m.Nodes)}
	if m.Memory > 0 && rapid.IntRange(0, 2).Draw(t, "some taken") == 0 {
		part := rapid.SampledFrom([]int64{0, 0, 1, 3, 10})
		for range m.Nodes {
			m.Taken = append(m.Taken, m.Memory/10*part.Draw(t, "tenths taken"))
		}
	}
	for node := range w.free {
		w.free[node] = max(m.Memory, 1)
		if m.Taken != nil {
			w.free[node] -= m.Taken[node]
		}
	}
	jobs := make([]Job, rapid.IntRange(0, 14).Draw(t, "jobs"))
	orders := rapid.Permutation(slices.Repeat([]int{0}, len(jobs))).Draw(t, "equal orders")
	if rapid.IntRange(0, 9).Draw(t, "different orders") > 0 {
		for i := range orders {
			orders[i] = i
		}
		orders = rapid.Permutation(orders).Draw(t, "orders")
	}
	for i := range jobs {
		j := &jobs[i]
		j.Order = int64(orders[i])
		j.Virtual = batch.Duration(rapid.Int64Range(0, 4000).Draw(t, "virtual")) * batch.Second
		j.Flow = j.Virtual + batch.Duration(rapid.Int64Range(0, 4000).Draw(t, "waited"))*batch.Second
		groups := max(1, rapid.IntRange(-3, 3).Draw(t, "groups"))
		for range groups {
			j.Groups = append(j.Groups, drawGroup(t, kind, m))
		}
		if rapid.IntRange(0, 5).Draw(t, "pin") < pin {
			w.pin(t, j)
		}
	}
	if err := Validate(m, jobs); err != nil {
		t.Fatalf("a problem that is not valid: %v", err)
	}
	return m, jobs
}

func drawGroup(t *rapid.T, kind string, m *Machine) Group {
	g := Group{Tasks: 1 << rapid.IntRange(0, 3).Draw(t, "log of tasks"), CPU: batch.One}
	switch kind {
	case "paper":
		if g.Tasks == 1 {
			g.CPU = batch.One / 4
		}
		g.Memory = m.Memory / 10 * rapid.SampledFrom([]int64{1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).Draw(t, "memory")
	case "small":
		g.CPU = batch.Share(rapid.Int32Range(1, 4).Draw(t, "quarters")) * batch.One / 4
		g.Memory = m.Memory / 20 * rapid.Int64Range(0, 3).Draw(t, "memory")
		g.Tasks *= 3
	case "odd":
		g.CPU = batch.Share(rapid.Int32Range(1, int32(batch.One)).Draw(t, "need"))
		g.Memory = rapid.Int64Range(0, max(m.Memory, 5)).Draw(t, "memory") / rapid.Int64Range(1, 5).Draw(t, "over")
		g.Tasks = rapid.Int32Range(1, 9).Draw(t, "tasks")
	}
	return g
}

// world tracks the resources that pinned jobs leave.
type world struct {
	m    *Machine
	free []int64
}

// pin pins a job to nodes where its memory fits, if there are any.
func (w *world) pin(t *rapid.T, j *Job) {
	if w.m.Nodes == 0 {
		return
	}
	free := slices.Clone(w.free)
	var places []Placement
	for g := range j.Groups {
		for range j.Groups[g].Tasks {
			node := rapid.Int32Range(0, w.m.Nodes-1).Draw(t, "node")
			tried := int32(0)
			fits := func() bool {
				return (w.m.Down == nil || !w.m.Down[node]) && (w.m.Memory == 0 || free[node] >= j.Groups[g].Memory)
			}
			for ; !fits(); node = (node + 1) % w.m.Nodes {
				if tried++; tried > w.m.Nodes {
					return
				}
			}
			free[node] -= j.Groups[g].Memory
			at := slices.IndexFunc(places, func(p Placement) bool { return p.Node == node && p.Group == int32(g) })
			if at < 0 {
				places = append(places, Placement{node, int32(g), 1})
			} else {
				places[at].Tasks++
			}
		}
	}
	slices.SortFunc(places, byNode)
	j.Pinned, w.free = places, free
}

func placesOf(p *Packer, kept int) [][]Placement {
	places := make([][]Placement, kept)
	for i := range places {
		places[i] = slices.Clone(p.Placements(i))
	}
	return places
}

func TestYieldMatchesTheSimpleAlgorithm(t *testing.T) {
	var p Packer // shared, so that state of one problem would show in the next
	rapid.Check(t, func(t *rapid.T) {
		m, jobs := problem(t)
		kept, yield := p.Yield(m, jobs)
		wantKept, wantYield, want := slowYield(m, jobs)
		if kept != wantKept || yield != wantYield {
			t.Fatalf("kept %d at %d, want %d at %d", kept, yield, wantKept, wantYield)
		}
		if diff := cmp.Diff(want, placesOf(&p, kept)); diff != "" {
			t.Fatalf("places (-want +got):\n%s", diff)
		}
	})
}

func TestStretchMatchesTheSimpleAlgorithm(t *testing.T) {
	var p Packer
	rapid.Check(t, func(t *rapid.T) {
		m, jobs := problem(t)
		period := batch.Duration(rapid.Int64Range(1, 3000).Draw(t, "period")) * batch.Second
		kept, inverse, yields := p.Stretch(m, jobs, period)
		wantKept, wantInverse, want := slowStretch(m, jobs, period)
		if kept != wantKept || inverse != wantInverse {
			t.Fatalf("kept %d at %d, want %d at %d", kept, inverse, wantKept, wantInverse)
		}
		if wantYields, _ := slowYields(jobs[:kept], inverse, period); !slices.Equal(yields, wantYields) {
			t.Fatalf("yields %v, want %v", yields, wantYields)
		}
		if diff := cmp.Diff(want, placesOf(&p, kept)); diff != "" {
			t.Fatalf("places (-want +got):\n%s", diff)
		}
	})
}
