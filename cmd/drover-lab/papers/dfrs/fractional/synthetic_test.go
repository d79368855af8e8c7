package fractional

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestSyntheticJobsFollowThePaper(t *testing.T) {
	memories, jobs := map[int64]int{}, 0
	for seed := 1; seed <= 20; seed++ {
		in, err := Synthetic(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(in.Jobs) != 1000 || in.Nodes != 128 || in.Jobs[0].Submit != 0 {
			t.Errorf("seed %d: %d jobs on %d nodes from %d on", seed, len(in.Jobs), in.Nodes, in.Jobs[0].Submit)
		}
		for i := range in.Jobs {
			j := &in.Jobs[i]
			if want := map[bool]batch.Share{true: batch.One / 4, false: batch.One}[j.Tasks == 1]; j.Need != want {
				t.Fatalf("%d tasks of need %d", j.Tasks, j.Need)
			}
			if j.Memory%(in.Memory/10) != 0 {
				t.Fatalf("memory %d", j.Memory)
			}
			memories[j.Memory/(in.Memory/10)]++
			jobs++
		}
	}
	for tenths, want := range map[int64]float64{1: .55, 2: .05, 5: .05, 9: .05, 10: .05} {
		if got := float64(memories[tenths]) / float64(jobs); math.Abs(got-want) > .01 {
			t.Errorf("%d tenths: %v of the jobs, want %v", tenths, got, want)
		}
	}
	if len(memories) != 10 {
		t.Errorf("memories: %v", memories)
	}
}

// "On the order of 4-6 days."
func TestTheFirstAndTheLastSubmissionAreAsFarApartAsThePaperSays(t *testing.T) {
	days := 0.
	for seed := 1; seed <= Seeds; seed++ {
		in, err := Synthetic(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		days += in.Jobs[len(in.Jobs)-1].Submit.Sub(0).Seconds() / 86400
	}
	if mean := days / Seeds; mean < 4 || mean > 6 {
		t.Errorf("%.1f days", mean)
	}
}

func TestASeedIsAlwaysTheSameWorkload(t *testing.T) {
	var got [2]*Instance
	for i := range got {
		var err error
		if got[i], err = Synthetic(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Error(diff)
	}
}

func TestScalingGivesTheLoadAndChangesNothingButGaps(t *testing.T) {
	in, err := Synthetic(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for tenths := 1; tenths <= Loads; tenths++ {
		s := in.Scale(tenths)
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		area, first := 0., 0.
		for i := range s.Jobs {
			a, b := in.Jobs[i], s.Jobs[i]
			area += float64(a.Tasks) * a.Runtime.Seconds()
			if i > 0 && a.Submit > batch.Time(batch.Hour) {
				factor := float64(b.Submit) / float64(a.Submit)
				if first == 0 {
					first = factor
				}
				if math.Abs(factor/first-1) > 1e-6 {
					t.Fatalf("load %d: factors %v and %v", tenths, first, factor)
				}
			}
			if a.Submit = b.Submit; a != b {
				t.Fatalf("load %d: %v, want %v", tenths, b, a)
			}
		}
		if load := area / (float64(s.Nodes) * s.Jobs[len(s.Jobs)-1].Submit.Sub(0).Seconds()); math.Abs(
			load-float64(tenths)/10,
		) > 1e-6 {
			t.Errorf("load %v, want %d tenths", load, tenths)
		}
	}
}
