package faults

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seeds is how many a test runs.
func seeds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestNothingIsLostAndNothingRunsTwice(t *testing.T) {
	var sum Counts
	n := seeds(5000)
	err := Sweep(t.Context(), 0, n, Sound, func(r *Result) bool {
		sum.Add(&r.Counts)
		if r.Wrong != "" {
			t.Errorf("seed %d: %s\n%sreplay: drover sim faults --trace %d", r.Seed, r.Wrong, r.Trace, r.Seed)
		}
		return r.Wrong == ""
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds() {
		if sum[k] == 0 && !t.Failed() && n >= 1000 {
			t.Errorf("%v: none in %d seeds: the simulation does not try it any more", k, n)
		}
	}
}

func TestEveryPlantedBugIsCaught(t *testing.T) {
	for _, p := range Plants() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(5000) {
				r := Run(seed, p)
				if r.Wrong == "" {
					continue
				}
				t.Logf("after %d seeds: %s", seed+1, r.Wrong)
				if r.Trace == "" {
					t.Error("no trace")
				}
				return
			}
			t.Error("not caught")
		})
	}
}

func TestASeedGivesTheSameBytes(t *testing.T) {
	for seed := range uint64(40) {
		a, b := Trace(seed, Sound), Trace(seed, Sound)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		if c := Run(seed, Sound); c.Counts != a.Counts {
			t.Fatalf("seed %d counts otherwise when it is traced", seed)
		}
	}
}

func TestResultsComeInTheOrderOfTheSeeds(t *testing.T) {
	next := uint64(7)
	err := Sweep(t.Context(), next, 100, Sound, func(r *Result) bool {
		if r.Seed != next || r.Counts != Run(next, Sound).Counts {
			t.Errorf("seed %d, want %d, as it is alone", r.Seed, next)
		}
		next++
		return next < 80
	})
	if err != nil || next != 80 {
		t.Errorf("stopped at %d: %v", next, err)
	}
}
