package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// recorder starts every job at once and records the events.
type recorder struct {
	fresh  []batch.Handle
	events []string
}

func (r *recorder) Apply(now batch.Time, ev *batch.Event) {
	r.events = append(r.events, fmt.Sprintf("%d %v %d", now, ev.Kind, ev.Job))
	if ev.Kind == batch.Submit {
		r.fresh = append(r.fresh, ev.Job)
	}
}

func (r *recorder) Decide(_ batch.Time, out *batch.Decisions) {
	for _, h := range r.fresh {
		out.Start(h)
	}
	r.fresh = nil
}

func (r *recorder) Wake() batch.Time                                                  { return batch.Never }
func (r *recorder) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }
func (r *recorder) Fork() batch.Policy                                                { return &recorder{} }

func TestJobsEndBeforeWindowsCloseBeforeWindowsOpen(t *testing.T) {
	r := &recorder{}
	e := engine.New(r, startsOf{}, nil)
	reserve := func(h batch.Handle, from, to batch.Time) {
		spec := &batch.Job{Handle: h, Window: &batch.Window{Start: from, End: to}}
		e.Apply(&batch.Event{Kind: batch.Reserve, Job: h, Spec: spec})
	}
	reserve(1, 9, 12)
	reserve(2, 5, 9)
	reserve(3, 9, 12)
	e.Submit(&batch.Job{Handle: 4}, 9)
	e.Pass()
	for next := e.Next(); next != batch.Never; next = e.Next() {
		e.Advance(next)
		e.Pass()
	}
	want := []string{
		"0 reserve 1", "0 reserve 2", "0 reserve 3", "0 submit 4",
		"5 window-open 2",
		"9 finish 4", "9 window-close 2", "9 window-open 1", "9 window-open 3",
		"12 window-close 1", "12 window-close 3",
	}
	if diff := cmp.Diff(want, r.events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
