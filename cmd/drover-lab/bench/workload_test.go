package bench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAWorkloadIsAFunctionOfItsSeed(t *testing.T) {
	w := Workload{
		Seed: 7, Clusters: []int{64, 96, 160}, Window: 10 * time.Minute, Load: 1.2, Local: 0.25,
		Shortest: time.Minute, Longest: 10 * time.Minute,
	}
	a, b := w.Generate(), w.Generate()
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	w.Seed++
	if cmp.Equal(a, w.Generate()) {
		t.Error("another seed makes the same jobs")
	}
}

func TestWorkloadsHaveTheRequestedLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Workload{
			Seed: rapid.Uint64().Draw(t, "seed"), Clusters: rapid.SliceOfN(rapid.IntRange(2, 200), 2, 4).Draw(t,
				"clusters"),
			Window: time.Duration(rapid.IntRange(1, 20).Draw(t, "minutes")) * time.Minute,
			Load:   rapid.Float64Range(0.1, 2).Draw(t, "load"), Local: rapid.Float64Range(0, 0.9).Draw(t, "local"),
			Shortest: time.Minute, Longest: 10 * time.Minute,
		}
		total, smallest := 0, w.Clusters[0]
		for _, n := range w.Clusters {
			total, smallest = total+n, min(smallest, n)
		}
		var work, last float64
		seen := make(map[string]bool)
		at := time.Duration(0)
		for _, j := range w.Generate() {
			widest := smallest / 2
			if j.Cluster != Anywhere {
				widest = w.Clusters[j.Cluster] / 2
			}
			switch {
			case seen[j.ID]:
				t.Fatalf("%s twice", j.ID)
			case j.At < at || j.At >= w.Window:
				t.Fatalf("%s comes at %v, after %v", j.ID, j.At, at)
			case j.Width < 1 || j.Width > widest:
				t.Fatalf("%s has width %d of %d", j.ID, j.Width, widest)
			case j.Runtime < w.Shortest-100*time.Millisecond || j.Runtime > w.Longest:
				t.Fatalf("%s runs for %v", j.ID, j.Runtime)
			case j.Walltime%time.Minute != 0 || j.Walltime < j.Runtime+slack || j.Walltime > 5*j.Runtime+2*time.Minute:
				t.Fatalf("%s runs for %v and asks for %v", j.ID, j.Runtime, j.Walltime)
			}
			seen[j.ID], at = true, j.At
			area := float64(j.Width) * j.Runtime.Seconds()
			work, last = work+area, max(last, area)
		}
		// Each stream ends with the job that fills it.
		want, slop := w.Load*float64(total)*w.Window.Seconds(), last*float64(len(w.Clusters)+1)
		if work < want*0.999 || work > want+slop {
			t.Fatalf("work %.0f, want %.0f and at most %.0f more", work, want, slop)
		}
	})
}
