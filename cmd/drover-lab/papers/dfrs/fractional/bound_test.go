package fractional

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// No schedule is better than the bound, and the bound is no better than it has to be
// where everybody can run at once.
func TestTheBoundIsBelowEverySchedule(t *testing.T) {
	for seed := 1; seed <= 3; seed++ {
		in, err := Synthetic(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []*Instance{in, in.Scale(1), in.Scale(9)} {
			b, err := in.Bound()
			if err != nil {
				t.Fatal(err)
			}
			for _, algorithm := range []string{FCFS, EASY} {
				row, err := Run(t.Context(), in, algorithm, 0, 0, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if b < 1 || b > row.MaxStretch {
					t.Errorf("seed %d, load %d, %s: bound %v, maximum stretch %v", seed, in.Load, algorithm, b,
						row.MaxStretch)
				}
			}
		}
	}
	alone := &Instance{Nodes: 4, Memory: 1, Jobs: []Job{
		{Runtime: batch.Hour, Tasks: 4, Need: batch.One},
		{Submit: batch.Time(batch.Hour), Runtime: batch.Second, Tasks: 1, Need: 1},
	}}
	if b, err := alone.Bound(); err != nil || b != 1 {
		t.Errorf("bound of jobs that never meet: %v, %v", b, err)
	}
}
