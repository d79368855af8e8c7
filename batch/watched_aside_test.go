package batch_test

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// aside is a window that is set aside.
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

// overrun says whether a job runs on past its end outside the windows.
func (w *watched) overrun(now batch.Time) bool {
	for _, a := range w.jobs {
		if a.state == counted.Running && a.within == nil && a.start.Add(a.walltime) <= now {
			return true
		}
	}
	return false
}

// guarded says whether anything has a place that must be kept.
func (w *watched) guarded() bool {
	for _, a := range w.jobs {
		if a.spec.Agreed && a.state == counted.Waiting {
			return true
		}
	}
	return len(w.windows) > 0
}

// noteWindow takes an event about a window and says whether it is one.
func (w *watched) noteWindow(now batch.Time, ev *batch.Event) bool {
	r := w.window(ev.Job)
	switch {
	case ev.Kind == batch.Reserve && ev.Spec.Window != nil:
		w.windows = append(w.windows, &aside{spec: ev.Spec})
	case ev.Kind == batch.WindowOpen:
		r.open = true
		w.trouble = w.trouble || w.overrun(now)
		if !w.trouble && w.free() < 0 {
			w.t.Fatalf("at %d window %d opens, and %d of its processors are taken", now, ev.Job, -w.free())
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

// checkInside: a job starts in its window, while it is open, beside the others there,
// and ends by its end.
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
		w.t.Fatalf("at %d job %d takes %d of %d processors in its window, of %d there are", now, a.spec.Handle, a.charge, left, idle)
	}
}

// checkAgreed: an agreed job has, or starts at, a place that is not later than the one
// before, and ends by its deadline.
func (w *watched) checkAgreed(now batch.Time, a *account, at batch.Time) {
	if w.trouble {
		return
	}
	if at > a.planned {
		w.t.Fatalf("at %d agreed job %d is put off from %d to %d", now, a.spec.Handle, a.planned, at)
	}
	if d := a.spec.Deadline; d > 0 && at.Add(a.walltime) > d {
		w.t.Fatalf("at %d agreed job %d has its place at %d: too late for %d", now, a.spec.Handle, at, d)
	}
}

// checkPlaces looks where the agreed jobs stand.
func (w *watched) checkPlaces(now batch.Time) {
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

// aside returns what is set aside at t, which is not before now, and agreed what agreed
// jobs that wait have then.
func (w *watched) aside(t batch.Time) (sum int32) {
	for _, r := range w.windows {
		if r.spec.Window.Start <= t && t < r.spec.Window.End {
			sum += r.spec.Shape.Width
		}
	}
	return sum
}

func (w *watched) agreed(t batch.Time) (sum int32) {
	for _, a := range w.jobs {
		if a.spec.Agreed && a.state == counted.Waiting && a.planned <= t && t < a.planned.Add(a.walltime) {
			sum += a.charge
		}
	}
	return sum
}

// earliest returns the first instant from now on at which a job fits beside all that
// runs, is set aside or is agreed, until its end.
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
		return base(w.Policy).PlannedEnd(a.spec.Handle) // it overruns, for as long as it is booked
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
