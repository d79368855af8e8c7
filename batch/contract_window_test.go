package batch_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// windowed plans each job at its earliest fit around reserved windows. Jobs in a window start
// in submission order while it is open, if they end before it closes. A job that still runs
// then is killed.
type windowed struct {
	toy
	plan    *profile.Profile
	windows map[batch.Handle]*window
	closed  []batch.Handle
}

type window struct {
	spec *batch.Job
	free int32
	open bool
}

func newWindowed(p batch.Platform) *windowed {
	return &windowed{toy{jobs: map[batch.Handle]*toyJob{}}, profile.New(0, p.Width()), map[batch.Handle]*window{}, nil}
}

func (w *windowed) Apply(now batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Submit:
		w.submit(ev.Spec)
		if s := ev.Spec.Shape; ev.Spec.Into == batch.NoJob {
			j := w.jobs[ev.Spec.Handle]
			j.started = w.plan.Fit(now, s.Walltime, s.Width)
			w.plan.Reserve(j.started, j.started.Add(s.Walltime), s.Width)
		}
	case batch.Reserve:
		s := ev.Spec
		w.plan.Reserve(s.Window.Start, s.Window.End, s.Shape.Width)
		w.windows[s.Handle] = &window{spec: s, free: s.Shape.Width}
	case batch.Cancel:
		if r := w.windows[ev.Job]; r != nil {
			w.plan.Release(max(now, r.spec.Window.Start), r.spec.Window.End, r.spec.Shape.Width)
			delete(w.windows, ev.Job)
			return
		}
		w.forget(ev.Job)
	case batch.WindowOpen:
		w.windows[ev.Job].open = true
	case batch.WindowClose:
		delete(w.windows, ev.Job)
		w.closed = append(w.closed, ev.Job)
	case batch.Finish:
		spec := w.jobs[ev.Job].spec
		if r := w.windows[spec.Into]; r != nil {
			r.free += spec.Shape.Width
		}
		w.forget(ev.Job)
	default:
		panic(ev.Kind)
	}
}

func (w *windowed) Decide(now batch.Time, out *batch.Decisions) {
	var killed []batch.Handle
	for h, j := range w.jobs {
		if j.state == "running" && slices.Contains(w.closed, j.spec.Into) {
			killed = append(killed, h)
		}
	}
	w.closed = w.closed[:0]
	slices.Sort(killed)
	for _, h := range killed {
		out.Add(batch.Kill, h)
	}
	if len(killed) > 0 {
		return // their processors become free at their Finish events
	}
	for _, h := range slices.Clone(w.waiting) {
		j := w.jobs[h]
		if into := j.spec.Into; into != batch.NoJob {
			r := w.windows[into]
			if r == nil || !r.open || r.free < j.spec.Shape.Width ||
				now.Add(j.spec.Shape.Walltime) > r.spec.Window.End {
				continue
			}
			r.free -= j.spec.Shape.Width
		} else if j.started > now {
			continue
		}
		j.state = "running"
		w.leave(h)
		out.Start(h)
	}
}

func (w *windowed) Wake() batch.Time {
	next := batch.Never
	for _, h := range w.waiting {
		if j := w.jobs[h]; j.spec.Into == batch.NoJob {
			next = min(next, j.started)
		}
	}
	return next
}

// Estimate answers for a window with its start if it can be reserved, else with Never.
func (w *windowed) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	for i, a := range asks {
		starts := out[i].Grow(len(a.Shapes))
		out[i].Kind = batch.Promised
		for k, s := range a.Shapes {
			starts[k] = w.plan.Fit(now, s.Walltime, s.Width)
			if win := a.Job.Window; win != nil {
				starts[k] = w.plan.Fit(win.Start, win.End.Sub(win.Start), s.Width)
				if starts[k] != win.Start {
					starts[k] = batch.Never
				}
			}
		}
	}
	return nil
}

func (w *windowed) Fork() batch.Policy {
	c := &windowed{w.fork(), w.plan.Clone(), map[batch.Handle]*window{}, slices.Clone(w.closed)}
	for h, r := range w.windows {
		k := *r
		c.windows[h] = &k
	}
	return c
}

func wide(h batch.Handle, width int32, walltime int, into batch.Handle) batch.Job {
	return batch.Job{Handle: h, Shape: batch.Shape{Width: width, Walltime: batch.Duration(secs(walltime))}, Into: into}
}

func reserve(at int, h batch.Handle, width int32, from, to int) act {
	spec := &batch.Job{Handle: h, Shape: batch.Shape{Width: width}, Window: &batch.Window{
		Start: secs(from),
		End:   secs(to),
	}}
	return act{at, func(e *engine.Engine) { e.Apply(&batch.Event{Kind: batch.Reserve, Job: h, Spec: spec}) }}
}

func cancel(at int, h batch.Handle) act {
	return act{at, func(e *engine.Engine) { e.Apply(&batch.Event{Kind: batch.Cancel, Job: h}) }}
}

// By hand, on 4 processors with 3 reserved from 10 to 20 (job 1 is the window):
//
//	2 4x8      0-8
//	3 4x5      too long for 8-10, then only one processor is free: 20-25
//	4 1x6      8-14, on the processor that is not reserved
//	5 2x4 in   10-14
//	6 2x4 in   14-18, after 5
//	7 1x9 in   10-19
//	8 3x2 in   at 19 all three are free, but it would end at 21: never. Cancelled
//	9 1x1 in   18, overruns, and is killed at 20, before 3 starts
func TestJobsAreScheduledAroundAndIntoWindows(t *testing.T) {
	platform := batch.Processors(4)
	perform(t, newWindowed(platform), platform, []act{
		reserve(0, 1, 3, 10, 20),
		submit(0, wide(2, 4, 8, 0), 8), submit(0, wide(3, 4, 5, 0), 5), submit(0, wide(4, 1, 6, 0), 6),
		submit(0, wide(5, 2, 4, 1), 4), submit(0, wide(6, 2, 4, 1), 4), submit(0, wide(7, 1, 9, 1), 9),
		submit(15, wide(8, 3, 2, 1), 2), submit(18, wide(9, 1, 1, 1), 99), cancel(20, 8),
	}, "#2 0-8", "#4 8-14", "#5 10-14", "#6 14-18", "#7 10-19", "#9 18-20 killed", "#3 20-25")
}

// If the window kept its processors, job 2 would be planned behind it, 40-50.
func TestACancelledWindowReleasesItsProcessors(t *testing.T) {
	platform := batch.Processors(4)
	perform(t, newWindowed(platform), platform, []act{
		reserve(0, 1, 4, 30, 40), cancel(27, 1), submit(27, wide(2, 4, 10, 0), 10),
	}, "#2 27-37")
}

// One window closes at the instant another opens: the same processors serve both.
func TestAWindowClosesBeforeTheNextOneOpens(t *testing.T) {
	platform := batch.Processors(2)
	perform(t, newWindowed(platform), platform, []act{
		reserve(0, 1, 2, 10, 20), reserve(0, 2, 2, 5, 10),
		submit(0, wide(3, 2, 5, 2), 9), submit(0, wide(4, 2, 10, 1), 10), submit(0, wide(5, 1, 6, 0), 6),
	}, "#3 5-10 killed", "#4 10-20", "#5 20-26")
}

// A driver finds out by an estimate whether a window can be reserved.
func TestEstimatesOfWindowsThatDoNotFitAreNever(t *testing.T) {
	w := newWindowed(batch.Processors(4))
	full := wide(1, 3, 10, 0)
	w.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: &full})
	widths := []batch.Shape{{Width: 1}, {Width: 2}}
	var asks []batch.Ask
	for _, from := range []int{5, 10} {
		asks = append(asks, batch.Ask{
			Job:    &batch.Job{Window: &batch.Window{Start: secs(from), End: secs(from + 5)}},
			Shapes: widths,
		})
	}
	out := make([]batch.Estimate, 2)
	w.Estimate(0, asks, out)
	got := [][]batch.Time{out[0].Starts, out[1].Starts}
	if diff := cmp.Diff([][]batch.Time{{secs(5), batch.Never}, {secs(10), secs(10)}}, got); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
}
