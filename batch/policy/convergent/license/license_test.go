package license

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func needsOf(r *rand.Rand, licenses, percent, most int) []Need {
	var needs []Need
	for l := range licenses {
		if r.IntN(100) < percent {
			needs = append(needs, Need{int32(l), int32(1 + r.IntN(most))})
		}
	}
	return needs
}

func TestClustersEqualThoseBuiltFromScratch(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		copies := make([]int64, 1+r.IntN(12))
		for l := range copies {
			copies[l] = r.Int64N(6)
		}
		percent, most := 5+r.IntN(30), 1+r.IntN(3)
		c := New(copies)
		jobs := map[int64][]Need{}
		order := int64(100)
		for range 120 {
			switch {
			case len(jobs) > 0 && r.IntN(5) < 2:
				all := slices.Sorted(maps.Keys(jobs))
				gone := all[r.IntN(len(all))]
				delete(jobs, gone)
				c.Remove(gone)
			case r.IntN(12) == 0:
				l := r.IntN(len(copies))
				copies[l] = r.Int64N(8)
				c.SetCopies(int32(l), copies[l])
			case r.IntN(20) == 0:
				old := c
				c = c.Clone()
				old.SetCopies(0, 0)
				for o := range jobs {
					old.Remove(o)
				}
			default:
				order += 1 + r.Int64N(3)
				o := order
				if r.IntN(10) == 0 {
					o = -order // submitted before all others
				}
				jobs[o] = needsOf(r, len(copies), percent, most)
				c.Add(o, jobs[o])
			}
			if diff := cmp.Diff(naiveClusters(copies, jobs), c.List()); diff != "" {
				t.Fatalf("seed %d: -want +got\n%s", seed, diff)
			}
			if c.Jobs() != len(jobs) {
				t.Fatalf("seed %d: %d jobs, want %d", seed, c.Jobs(), len(jobs))
			}
		}
	}
}

func TestClustersMergeAndSplit(t *testing.T) {
	c := New([]int64{1, 1, 1})
	one := func(ls ...int32) []Need {
		var needs []Need
		for _, l := range ls {
			needs = append(needs, Need{l, 1})
		}
		return needs
	}
	step := func(what string, want ...Cluster) {
		t.Helper()
		if diff := cmp.Diff(want, c.List()); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
	c.Add(1, one(0))
	c.Add(2, one(1))
	step("as many copies as requests")
	c.Add(3, one(0))
	c.Add(4, one(1))
	step("two licenses critical", Cluster{[]int32{0}, []int64{1, 3}}, Cluster{[]int32{1}, []int64{2, 4}})
	c.Add(5, one(0, 1))
	step("a job that wants both", Cluster{[]int32{0, 1}, []int64{1, 2, 3, 4, 5}})
	c.Remove(5)
	step("it has gone", Cluster{[]int32{0}, []int64{1, 3}}, Cluster{[]int32{1}, []int64{2, 4}})
	c.Add(6, one(0, 2))
	c.Add(7, one(1, 2))
	step("joined by a third license", Cluster{[]int32{0, 1, 2}, []int64{1, 2, 3, 4, 6, 7}})
	c.SetCopies(2, 2)
	step("which has copies enough", Cluster{[]int32{0}, []int64{1, 3, 6}}, Cluster{[]int32{1}, []int64{2, 4, 7}})
	c.Remove(99)
	if !c.Critical(0) || c.Critical(2) || c.Demand(0) != 3 || c.Copies(2) != 2 {
		t.Errorf("demand %d, copies %d", c.Demand(0), c.Copies(2))
	}
}

// problem draws items with a few needs each.
func problem(r *rand.Rand, most int) ([]Item, []int64) {
	items, copies := make([]Item, r.IntN(most)), make([]int64, 1+r.IntN(6))
	for l := range copies {
		copies[l] = r.Int64N(8)
	}
	percent, values, kept := 10+r.IntN(80), []int64{1, 4, 1000, 1 << 34}[r.IntN(4)], r.IntN(30)
	for i := range items {
		items[i] = Item{
			Value: r.Int64N(values + 1), Needs: needsOf(r, len(copies), percent, 3), Kept: r.IntN(100) < kept,
		}
	}
	return items, copies
}

func TestGreedyDiscardsTheLowestCurrentUnitCost(t *testing.T) {
	var k Knapsack
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		items, copies := problem(r, 40)
		keep := make([]bool, len(items))
		k.Greedy(items, copies, keep)
		if !feasible(items, copies, keep) {
			t.Fatalf("seed %d: %v does not fit %v into %v", seed, keep, items, copies)
		}
		if diff := cmp.Diff(plainGreedy(items, copies), keep); diff != "" {
			t.Fatalf("seed %d: -want +got\n%s\n%v\n%v", seed, diff, items, copies)
		}
	}
}

func TestGreedyRecomputesWeightsWhenALicenseIsNoLongerCritical(t *testing.T) {
	// The first discard settles license 0 of two critical ones. An item that requests both then
	// weighs less, and is kept rather than one that requests only license 1.
	items := []Item{
		{Value: 30, Needs: []Need{{0, 1}, {1, 1}}}, // 30/2, then 30/1
		{Value: 10, Needs: []Need{{0, 1}}},         // 10/1: discarded first
		{Value: 20, Needs: []Need{{1, 1}}},         // 20/1
	}
	keep := make([]bool, 3)
	var k Knapsack
	k.Greedy(items, []int64{1, 1}, keep)
	if diff := cmp.Diff([]bool{true, false, false}, keep); diff != "" {
		t.Error(diff)
	}
}

func TestJobsThatCanNeverRunDisplaceNoOthers(t *testing.T) {
	items := []Item{
		{Value: 1000, Needs: []Need{{0, 3}}}, // of 2 copies
		{Value: 1, Needs: []Need{{0, 1}}},
		{Value: 1, Needs: []Need{{0, 1}}},
		{Value: 5, Needs: []Need{{1, 1}}}, // of 0 copies
	}
	keep := make([]bool, 4)
	var k Knapsack
	k.Greedy(items, []int64{2, 0}, keep)
	if diff := cmp.Diff([]bool{false, true, true, false}, keep); diff != "" {
		t.Error(diff)
	}
}

func TestKeptItemsStayWithoutEnoughCopies(t *testing.T) {
	items := []Item{
		{Value: 1, Needs: []Need{{0, 2}}, Kept: true},
		{Value: 99, Needs: []Need{{0, 1}}},
		{Value: 1, Needs: []Need{{0, 2}}, Kept: true},
		{Value: 1, Needs: []Need{{1, 1}}},
	}
	keep := make([]bool, 4)
	var k Knapsack
	k.Greedy(items, []int64{3, 1}, keep) // one copy less than the kept items hold
	if diff := cmp.Diff([]bool{true, false, true, true}, keep); diff != "" {
		t.Error(diff)
	}
}

func TestBranchAndBoundMatchesExhaustiveSearch(t *testing.T) {
	var k Knapsack
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		items, copies := problem(r, 13)
		keep := make([]bool, len(items))
		got := k.BranchAndBound(items, copies, 1<<20, keep)
		want := tryAll(items, copies)
		if !feasible(items, copies, keep) || valueOf(items, keep) != got.Value {
			t.Fatalf("seed %d: %v of value %d does not fit", seed, keep, got.Value)
		}
		if got.Value != want || !got.Proven || got.Bound != want {
			t.Fatalf("seed %d: %+v, want %d\n%v\n%v", seed, got, want, items, copies)
		}
	}
}

func TestBranchAndBoundReportsTheNodeLimit(t *testing.T) {
	var k Knapsack
	stopped := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		items, copies := problem(r, 14)
		keep := make([]bool, len(items))
		got := k.BranchAndBound(items, copies, 1, keep)
		want := tryAll(items, copies)
		if !feasible(items, copies, keep) || got.Value != valueOf(items, keep) || got.Value > want || got.Bound < want {
			t.Fatalf("seed %d: %+v, best %d", seed, got, want)
		}
		if !got.Proven {
			stopped++
		} else if got.Value != want {
			t.Fatalf("seed %d: %+v is proven, best %d", seed, got, want)
		}
	}
	if stopped == 0 {
		t.Error("one node was always enough")
	}
}
