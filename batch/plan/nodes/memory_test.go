package nodes

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestTasksGoWhereThereIsMemoryForThem(t *testing.T) {
	a := New(batch.Platform{Nodes: []batch.Node{{Processors: 4, Memory: 10}, {Processors: 4, Memory: 10}, {Processors: 1}}})
	at := func(node, processors int32) batch.NodeAllocation {
		return batch.NodeAllocation{Node: node, Processors: processors, Share: batch.One}
	}
	for _, c := range []struct {
		width  int32
		memory int64
		want   []batch.NodeAllocation
	}{
		{1, 6, []batch.NodeAllocation{at(0, 1)}},
		{1, 6, []batch.NodeAllocation{at(1, 1)}}, // node 0 has processors, and 4 of memory
		{2, 4, []batch.NodeAllocation{at(0, 1), at(1, 1)}},
		{2, 6, []batch.NodeAllocation{at(0, 2)}}, // there is memory for one, on node 2: then it counts for nobody
		{1, 7, []batch.NodeAllocation{at(2, 1)}}, // what has no memory counts as having enough
		{2, 0, []batch.NodeAllocation{at(1, 2)}},
		{1, 1, nil},
	} {
		got := a.PickFor(c.width, c.memory)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d tasks of %d: %v, want %v", c.width, c.memory, got, c.want)
		}
		a.Hold(got, c.memory)
	}
}

// TestMemoryIsCountedLikeAnArray compares with nodes that are gone through from the
// first to the last.
func TestMemoryIsCountedLikeAnArray(t *testing.T) {
	type held struct {
		allocation []batch.NodeAllocation
		memory     int64
	}
	rapid.Check(t, func(t *rapid.T) {
		var p batch.Platform
		var free, memory []int64
		for range rapid.IntRange(1, 200).Draw(t, "nodes") {
			n := batch.Node{Processors: rapid.Int32Range(1, 4).Draw(t, "processors"), Memory: rapid.Int64Range(1, 8).Draw(t, "memory")}
			p.Nodes = append(p.Nodes, n)
			free, memory = append(free, int64(n.Processors)), append(memory, n.Memory)
		}
		a := New(p)
		var all []held
		t.Repeat(map[string]func(*rapid.T){
			"pick": func(t *rapid.T) {
				width, each := rapid.Int32Range(1, p.Width()).Draw(t, "width"), rapid.Int64Range(0, 4).Draw(t, "memory")
				if int64(width) > a.Spare() {
					if got := a.PickFor(width, each); got != nil {
						t.Fatalf("picked %v", got)
					}
					return
				}
				want := choose(free, memory, int64(width), each)
				if want == nil {
					want = choose(free, memory, int64(width), 0)
				}
				got := a.PickFor(width, each)
				if !slices.Equal(got, want) {
					t.Fatalf("picked %v, want %v", got, want)
				}
				a.Hold(got, each)
				for _, l := range got {
					free[l.Node] -= int64(l.Processors)
					memory[l.Node] -= int64(l.Processors) * each
				}
				all = append(all, held{got, each})
			},
			"end": func(t *rapid.T) {
				if len(all) == 0 {
					t.Skip("nothing is booked")
				}
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				for _, l := range all[i].allocation {
					free[l.Node] += int64(l.Processors)
					memory[l.Node] += int64(l.Processors) * all[i].memory
				}
				a.Release(all[i].allocation)
				a.Drop(all[i].allocation, all[i].memory)
				all = slices.Delete(all, i, i+1)
			},
		})
	})
}

// choose returns allocation in order of the nodes, nil if there are not enough.
func choose(free, memory []int64, width, each int64) []batch.NodeAllocation {
	var all []batch.NodeAllocation
	for i := range free {
		n := min(width, free[i])
		for each > 0 && n > 0 && n*each > memory[i] {
			n--
		}
		if n > 0 {
			all = append(all, batch.NodeAllocation{Node: int32(i), Processors: int32(n), Share: batch.One})
			width -= n
		}
	}
	if width > 0 {
		return nil
	}
	return all
}
