package nodes

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The oracle is an array of free shares that is searched from its beginning.
func TestTheAllocatorAgreesWithAnArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p batch.Platform
		var free []int64
		for _, n := range rapid.SliceOfN(rapid.Int32Range(1, 3), 1, 300).Draw(t, "nodes") {
			p.Nodes = append(p.Nodes, batch.Node{Processors: n})
			free = append(free, int64(n)*int64(batch.One))
		}
		a := New(p)
		var booked [][]batch.NodeAllocation
		whole := func() (n int64) {
			for _, f := range free {
				n += f / int64(batch.One)
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"pick": func(t *rapid.T) {
				width := rapid.Int32Range(1, p.Width()).Draw(t, "width")
				got := a.Pick(width)
				if int64(width) > whole() {
					if got != nil {
						t.Fatalf("picked %v with %d free", got, whole())
					}
					return
				}
				var want []batch.NodeAllocation
				for i := 0; width > 0; i++ {
					if n := min(width, int32(free[i]/int64(batch.One))); n > 0 {
						want = append(want, batch.NodeAllocation{Node: int32(i), Processors: n, Share: batch.One})
						free[i] -= int64(n) * int64(batch.One)
						width -= n
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("picked %v, want %v", got, want)
				}
				booked = append(booked, got)
			},
			"take": func(t *rapid.T) {
				var allocation []batch.NodeAllocation
				ok := true
				after := slices.Clone(free)
				for range rapid.IntRange(1, 4).Draw(t, "allocation") {
					l := batch.NodeAllocation{
						Node:       rapid.Int32Range(-1, int32(len(free))).Draw(t, "node"),
						Processors: rapid.Int32Range(0, 3).Draw(t, "processors"),
						Share:      batch.Share(rapid.Int32Range(0, 5).Draw(t, "quarters")) * batch.One / 4,
					}
					allocation = append(allocation, l)
					if l.Node < 0 || int(l.Node) >= len(free) || l.Processors < 1 || l.Share < 1 ||
						l.Share > batch.One {
						ok = false
						continue
					}
					after[l.Node] -= int64(l.Processors) * int64(l.Share)
					ok = ok && after[l.Node] >= 0
				}
				if got := a.Take(allocation); got != ok {
					t.Fatalf("take %v: %v, want %v", allocation, got, ok)
				}
				if ok {
					free = after
					booked = append(booked, allocation)
				}
			},
			"release": func(t *rapid.T) {
				if len(booked) == 0 {
					t.Skip("nothing is booked")
				}
				i := rapid.IntRange(0, len(booked)-1).Draw(t, "which")
				for _, l := range booked[i] {
					free[l.Node] += int64(l.Processors) * int64(l.Share)
				}
				a.Release(booked[i])
				booked = slices.Delete(booked, i, i+1)
			},
			"": func(t *rapid.T) {
				if a.spare != whole() || !slices.Equal(a.free, free) {
					t.Fatalf("%d whole processors free, want %d", a.spare, whole())
				}
			},
		})
	})
}

func TestTasksGetNodesWithEnoughMemory(t *testing.T) {
	a := New(batch.Platform{Nodes: []batch.Node{
		{Processors: 4, Memory: 10},
		{Processors: 4, Memory: 10},
		{Processors: 1},
	}})
	at := func(node, processors int32) batch.NodeAllocation {
		return batch.NodeAllocation{Node: node, Processors: processors, Share: batch.One}
	}
	for _, c := range []struct {
		width  int32
		memory int64
		want   []batch.NodeAllocation
	}{
		{1, 6, []batch.NodeAllocation{at(0, 1)}},
		{1, 6, []batch.NodeAllocation{at(1, 1)}}, // node 0 has processors and 4 bytes of memory
		{2, 4, []batch.NodeAllocation{at(0, 1), at(1, 1)}},
		{2, 6, []batch.NodeAllocation{at(0, 2)}}, // only node 2 has memory, for one task: then memory is ignored
		{1, 7, []batch.NodeAllocation{at(2, 1)}}, // a node of unknown memory counts as having enough
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

// The oracle tries the nodes from the first to the last.
func TestMemoryCountsAgreeWithAnArray(t *testing.T) {
	type held struct {
		allocation []batch.NodeAllocation
		memory     int64
	}
	rapid.Check(t, func(t *rapid.T) {
		var p batch.Platform
		var free, memory []int64
		for range rapid.IntRange(1, 200).Draw(t, "nodes") {
			n := batch.Node{
				Processors: rapid.Int32Range(1, 4).Draw(t, "processors"), Memory: rapid.Int64Range(1, 8).Draw(t,
					"memory"),
			}
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

// choose returns an allocation in order of the nodes; nil if the capacity is too small.
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

func TestANodeThatIsDownGetsNoJobsAndKeepsItsBookings(t *testing.T) {
	a := New(batch.Platform{Nodes: []batch.Node{{Processors: 2}, {Processors: 2}}})
	first := a.Pick(1)
	a.SetDown(0, true)
	a.SetDown(0, true)
	if a.Spare() != 2 {
		t.Errorf("%d spare, want only those of the other node", a.Spare())
	}
	if got := a.Pick(2); got[0].Node != 1 || a.Spare() != 0 {
		t.Errorf("picked %v, %d spare", got, a.Spare())
	}
	if got := a.Pick(1); got != nil {
		t.Errorf("picked %v", got)
	}
	a.Release(first)
	if a.Spare() != 0 {
		t.Errorf("%d spare after the release", a.Spare())
	}
	a.SetDown(0, false)
	a.SetDown(0, false)
	if got := a.Pick(2); got == nil || got[0].Node != 0 || got[0].Processors != 2 || a.Spare() != 0 {
		t.Errorf("picked %v, %d spare", got, a.Spare())
	}
}

// BenchmarkPick books and releases on machines with many nodes, the first of which are
// full.
func BenchmarkPick(b *testing.B) {
	for _, nodes := range []int32{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			a := New(batch.Processors(nodes))
			a.Pick(nodes - 8)
			for b.Loop() {
				a.Release(a.Pick(4))
			}
		})
	}
}
