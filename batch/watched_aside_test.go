package batch_test

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// aside is a reserved window.
type aside struct {
	spec *batch.Job
	open bool
}

func (w *watched) window(h batch.Handle) *aside {
	for _, r := range w.windows {
		if r.spec.Handle == h {
			return r
		}
	}
	return nil
}

// overrun reports whether a job outside the windows runs past its planned end.
func (w *watched) overrun(now batch.Time) bool {
	for _, a := range w.jobs {
		if a.state == counted.Running && a.within == nil && a.start.Add(a.walltime) <= now {
			return true
		}
	}
	return false
}

// guarded reports whether an agreed job or a window has a slot that must be kept.
func (w *watched) guarded() bool {
	for _, a := range w.jobs {
		if a.spec.Agreed && a.state == counted.Waiting {
			return true
		}
	}
	return len(w.windows) > 0
}

// noteWindow records an event about a window, and reports whether the event is one.
func (w *watched) noteWindow(now batch.Time, ev *batch.Event) bool {
	r := w.window(ev.Job)
	switch {
	case ev.Kind == batch.Reserve && ev.Spec.Window != nil:
		w.windows = append(w.windows, &aside{spec: ev.Spec})
	case ev.Kind == batch.WindowOpen:
		r.open = true
		w.trouble = w.trouble || w.overrun(now)
		if !w.trouble && w.free() < 0 {
			w.t.Fatalf("at %d window %d opens with %d of its processors taken", now, ev.Job, -w.free())
		}
	case r != nil && (ev.Kind == batch.WindowClose || ev.Kind == batch.Cancel):
		w.windows = slices.DeleteFunc(w.windows, func(x *aside) bool { return x == r })
		for _, a := range w.jobs {
			if a.within == r {
				a.within = nil
			}
		}
		if ev.Kind == batch.WindowClose {
			w.closed = append(w.closed, ev.Job)
		}
	default:
		return false
	}
	w.log = append(w.log, fmt.Sprintf("%d %v %d", now, ev.Kind, ev.Job))
	return true
}

// checkInside checks that a job starts in its open window, fits beside the other jobs there,
// and ends before the window ends.
func (w *watched) checkInside(now batch.Time, a *account) {
	r := a.within
	if a.state != counted.Waiting || r == nil || !r.open || now.Add(a.walltime) > r.spec.Window.End {
		w.t.Fatalf("at %d job %d, %+v, starts in window %+v", now, a.spec.Handle, a, r)
	}
	left, idle := r.spec.Shape.Width, w.free()
	for _, o := range w.windows {
		if o.open {
			idle += o.spec.Shape.Width
		}
	}
	for _, b := range w.jobs {
		if b.state != counted.Running || b.within == nil {
			continue
		}
		idle -= b.charge
		if b.within == r {
			left -= b.charge
		}
	}
	if a.charge > left || a.charge > idle {
		w.t.Fatalf("at %d job %d takes %d of %d free processors in its window, %d idle", now, a.spec.Handle, a.charge,
			left, idle)
	}
}

// checkAgreed checks that the planned or actual start of an agreed job is not later than
// before, and that the job ends by its deadline.
func (w *watched) checkAgreed(now batch.Time, a *account, at batch.Time) {
	if w.trouble {
		return
	}
	if at > a.planned {
		w.t.Fatalf("at %d agreed job %d is delayed from %d to %d", now, a.spec.Handle, a.planned, at)
	}
	if d := a.spec.Deadline; d > 0 && at.Add(a.walltime) > d {
		w.t.Fatalf("at %d agreed job %d is planned at %d: too late for %d", now, a.spec.Handle, at, d)
	}
}

// checkAgreedSlots checks the slots of all waiting agreed jobs.
func (w *watched) checkAgreedSlots(now batch.Time) {
	for h, a := range w.jobs {
		if !a.spec.Agreed || a.state != counted.Waiting {
			continue
		}
		var out [1]batch.Estimate
		shapes := []batch.Shape{{Width: a.spec.Shape.Width, Walltime: a.walltime}}
		w.asking.Estimate(now, w.Policy, []batch.Ask{{Job: a.spec, Shapes: shapes}}, out[:])
		if out[0].Kind != batch.Promised || out[0].Starts[0] < a.spec.EarliestStart {
			w.t.Fatalf("at %d agreed job %d starts at %d, %v", now, h, out[0].Starts[0], out[0].Kind)
		}
		w.checkAgreed(now, a, out[0].Starts[0])
		a.planned = out[0].Starts[0]
	}
}

// aside returns the reserved processors at t, not before now.
func (w *watched) aside(t batch.Time) (sum int32) {
	for _, r := range w.windows {
		if r.spec.Window.Start <= t && t < r.spec.Window.End {
			sum += r.spec.Shape.Width
		}
	}
	return sum
}

// agreed returns the processors of waiting agreed jobs at t.
func (w *watched) agreed(t batch.Time) (sum int32) {
	for _, a := range w.jobs {
		if a.spec.Agreed && a.state == counted.Waiting && a.planned <= t && t < a.planned.Add(a.walltime) {
			sum += a.charge
		}
	}
	return sum
}

// earliest returns the first instant from now on at which a job fits beside running jobs,
// reserved windows and agreed jobs until its end.
func (w *watched) earliest(now batch.Time, job *account) batch.Time {
	steps := []batch.Time{now}
	step := func(t batch.Time) {
		if t > now && t != batch.Never {
			steps = append(steps, t)
		}
	}
	end := func(a *account) batch.Time {
		if end := a.start.Add(a.walltime); end > now || a.within != nil {
			return end
		}
		return base(w.Policy).PlannedEnd(a.spec.Handle) // the booked end of an overrunning job
	}
	for _, a := range w.jobs {
		switch {
		case a.state == counted.Running:
			step(end(a))
		case a.spec.Agreed && a.state == counted.Waiting:
			step(a.planned)
			step(a.planned.Add(a.walltime))
		}
	}
	for _, r := range w.windows {
		step(r.spec.Window.Start)
		step(r.spec.Window.End)
	}
	slices.Sort(steps)
	fits := func(t batch.Time) bool {
		free := w.capacity() - w.aside(t) - w.agreed(t)
		for _, a := range w.jobs {
			if a.state == counted.Running && a.within == nil && end(a) > t {
				free -= a.charge
			}
		}
		return job.charge <= free
	}
next:
	for _, from := range steps {
		for _, t := range steps {
			if from <= t && t < from.Add(job.walltime) && !fits(t) {
				continue next
			}
		}
		return from
	}
	return batch.Never
}
