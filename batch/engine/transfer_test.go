package engine_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// The data are on node 0. Their transfer takes 10 s to node 1 and 3 s to node 2. The job has 20 s
// of work.
func TestJobWaitsForItsDataAtOtherPlaces(t *testing.T) {
	s := &scripted{}
	decide := func(kind batch.DecisionKind, places ...batch.NodeAllocation) func(*batch.Decisions) {
		return func(out *batch.Decisions) { out.Add(kind, 1, places...) }
	}
	s.then(0, decide(batch.Start, share(1, 1)))    // until 10
	s.then(12, decide(batch.Migrate, share(2, 1))) // 2 done; until 15
	s.then(13, decide(batch.Migrate, share(0, 1))) // within it; at once
	s.then(17, decide(batch.Migrate, share(1, 1))) // 6 done; until 27
	s.then(18, decide(batch.Pause))
	s.then(19, decide(batch.Resume, share(2, 1))) // until 22; the end is 14 later
	e := engine.New(s, &decided{}, nil)
	e.Transfer = func(_ *batch.Job, to []batch.NodeAllocation) batch.Duration {
		return []batch.Duration{0, 10 * batch.Second, 3 * batch.Second}[to[0].Node]
	}
	e.Submit(&batch.Job{Handle: 1, Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}, 20*batch.Second)
	for e.Next() != batch.Never {
		e.Advance(e.Next())
		e.Pass()
	}
	want := []string{
		"12 stop of 1 after 2s", "13 stop of 1 after 2s", "13 resumed: 1", "17 stop of 1 after 6s",
		"18 stop of 1 after 6s", "22 resumed: 1", "36 end of 1",
	}
	if !slices.Equal(s.ended, want) {
		t.Error(cmp.Diff(want, s.ended))
	}
}
