package external

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// On two processors another user's job runs for 10 minutes, then jobs 2 and 3 of this
// site, one after the other, for 10 minutes each.
func TestADraftIsIndependentOfTheSystemAndOtherDrafts(t *testing.T) {
	s := polled(t, easy.New, 2, runs("1", 2, 10*batch.Minute, 0))
	spec := func() *batch.Job {
		return &batch.Job{Shape: batch.Shape{Width: 2, Walltime: 10*batch.Minute - batch.Second}}
	}
	two, three, four := attemptOf(2), attemptOf(3), attemptOf(4)
	for _, key := range []batch.Key{two, three} {
		if err := s.Do(t.Context(), []batch.Command{{Kind: batch.CmdSubmit, Key: key, Job: spec()}}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := s.Draft(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Draft(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	starts := func(d batch.Draft) []float64 {
		t.Helper()
		out := make([]batch.Standing, 3)
		if !d.Standing([]batch.Key{two, three, four}, out) {
			t.Fatal("no answer")
		}
		var list []float64
		for _, st := range out {
			if !st.Waits {
				list = append(list, -1)
				continue
			}
			if st.End != st.Start.Add(10*batch.Minute-batch.Second) || st.Kind != batch.Forecast {
				t.Errorf("%+v", st)
			}
			list = append(list, float64(st.Start.Sub(s.model.now)/batch.Second)/60)
		}
		return list
	}
	step := func(d batch.Draft, want ...float64) {
		t.Helper()
		if diff := cmp.Diff(want, starts(d)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	step(d, 10, 20, -1)
	if !d.Cancel(two) || d.Cancel(two) || d.Cancel(four) {
		t.Error("wrong answer to a cancellation")
	}
	step(d, -1, 10, -1)
	d.Submit(four, spec())
	step(d, -1, 10, 20)
	d.Submit(two, spec())
	step(d, 30, 10, 20)
	step(other, 10, 20, -1)
	if got := s.starts(t, minutes(2, 1)); got[0] != 30 {
		t.Errorf("the system itself: %v", got)
	}
	s.view.first = false
	if _, err := s.Draft(t.Context()); !errors.Is(err, batch.ErrNoDrafts) {
		t.Errorf("before the first poll: %v", err)
	}
}
