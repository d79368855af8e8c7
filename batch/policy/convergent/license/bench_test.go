package license

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// paperlike draws a problem with the set-up of the paper's Table 1: 40 licenses on 100
// machines, each with copies for a ratio of them, and jobs that request each license with a
// probability of 20%. A job's value is that of the heuristics: its age, up to 4 points for
// being short, up to 2.5 for its licenses, and up to 10 near its deadline.
func paperlike(r *rand.Rand, jobs, low int) ([]Item, []int64) {
	const point = 1 << 20
	copies := make([]int64, 40)
	for l := range copies {
		copies[l] = int64(low + r.IntN(6))
	}
	items := make([]Item, jobs)
	for i := range items {
		needs := needsOf(r, 40, 20, 1)
		v := 0.02*10*float64(jobs-i) + 4*r.Float64() + 2.5*float64(len(needs))/16 + max(0, 20*r.Float64()-10)
		items[i] = Item{Value: int64(v * point), Needs: needs}
	}
	return items, copies
}

// Run with -v for a table like the paper's.
func TestGreedyIsWithinThreePercentOfBranchAndBound(t *testing.T) {
	const samples, nodes = 6, 300
	var k Knapsack
	for _, jobs := range []int{250, 350} {
		for _, low := range []int{40, 45, 50, 55} {
			var distance, bound, worst float64
			var greedy, exact time.Duration
			proven := 0
			for seed := range uint64(samples) {
				items, copies := paperlike(rand.New(rand.NewPCG(seed, uint64(low))), jobs, low)
				keep := make([]bool, jobs)
				begin := time.Now()
				const times = 20
				for range times {
					k.Greedy(items, copies, keep)
				}
				greedy += time.Since(begin) / times
				got := float64(valueOf(items, keep))
				begin = time.Now()
				best := k.BranchAndBound(items, copies, nodes, keep)
				exact += time.Since(begin)
				d := 1 - got/float64(best.Value)
				distance, worst = distance+d, max(worst, d)
				bound += float64(best.Bound)/float64(best.Value) - 1
				if best.Proven {
					proven++
				}
			}
			t.Logf("%d jobs, ratio %d-%d: greedy %.2f%% below (worst %.2f%%), in %v of %v (%.2f%%); proven %d of %d, "+
				"else the bound is %.2f%% above",
				jobs, low, low+5, 100*distance/samples, 100*worst, greedy/samples, exact/samples,
				100*float64(greedy)/float64(exact), proven, samples, 100*bound/samples)
			if distance/samples > 0.03 {
				t.Errorf("%d jobs, ratio %d: %.2f%% below on average, want at most 3%%", jobs, low,
					100*distance/samples)
			}
		}
	}
}

func BenchmarkGreedy(b *testing.B) {
	for _, jobs := range []int{300, 1500, 10000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			items, copies := paperlike(rand.New(rand.NewPCG(1, 1)), jobs, 50)
			keep := make([]bool, jobs)
			var k Knapsack
			b.ReportAllocs()
			for b.Loop() {
				k.Greedy(items, copies, keep)
			}
		})
	}
}

func BenchmarkAddAndRemoveOneJob(b *testing.B) {
	for _, jobs := range []int{300, 1500, 10000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			items, copies := paperlike(rand.New(rand.NewPCG(1, 1)), jobs, 50)
			c := New(copies)
			for i := range items {
				c.Add(int64(i), items[i].Needs)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.Remove(int64(i % jobs))
				c.Add(int64(i%jobs), items[i%jobs].Needs)
			}
		})
	}
}
