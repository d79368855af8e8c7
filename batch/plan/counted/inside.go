package counted

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// nowhere stands for the reservation of a job after its reservation has ended.
const nowhere batch.Handle = -1

// enter inserts a job into the queue of its reservation, in order.
func (b *Base) enter(h batch.Handle) {
	w := b.window(b.jobs[h].within)
	if w == nil {
		return
	}
	at, _ := slices.BinarySearchFunc(w.waiting, b.jobs[h].seq, func(x batch.Handle, seq int64) int {
		return int(b.jobs[x].seq - seq)
	})
	w.waiting = slices.Insert(w.waiting, at, h)
	w.stirred = true
}

// quit removes a job from the queue of its reservation, if it is there.
func (b *Base) quit(h batch.Handle) {
	if w := b.window(b.jobs[h].within); w != nil {
		w.waiting = slices.DeleteFunc(w.waiting, func(x batch.Handle) bool { return x == h })
		w.stirred = true
	}
}

// beginInside records the start of a job in a reservation.
func (b *Base) beginInside(w *window, start batch.Time, h batch.Handle) {
	b.run(start, h)
	w.free -= b.jobs[h].Charge
	w.running = append(w.running, h)
}

// endInside returns a job's processors to its reservation.
func (b *Base) endInside(w *window, h batch.Handle) {
	w.free += b.jobs[h].Charge
	w.running = slices.DeleteFunc(w.running, func(x batch.Handle) bool { return x == h })
	w.stirred = true
}

// Serve begins a pass: it kills jobs that still run in an ended reservation, and starts
// jobs in open ones. If it killed any, the pass is over: their processors are free only
// after they have ended, which triggers another pass.
func (b *Base) Serve(now batch.Time, out *batch.Decisions) (killed bool) {
	b.killing = false
	if len(b.windows) == 0 && len(b.doomed) == 0 {
		return false
	}
	for _, h := range b.doomed {
		if j := &b.jobs[h]; j.State == Running && j.within == nowhere {
			out.Add(batch.Kill, h)
			b.killing = true
		}
	}
	b.doomed = b.doomed[:0]
	if b.killing {
		return true
	}
	idle := b.Free
	for i := range b.windows {
		if w := &b.windows[i]; w.Open {
			idle += w.free
		}
	}
	for i := range b.windows {
		w := &b.windows[i]
		if !w.Open || !w.stirred && now < w.next {
			continue
		}
		w.stirred, w.next = false, batch.Never
		b.planInside(now, w, func(h batch.Handle, start batch.Time) {
			j := &b.jobs[h]
			switch {
			case start > now:
				if j.Spec.EarliestStart > now {
					w.next = min(w.next, start)
				}
			case j.Charge > idle: // the window opened short of processors
				w.stirred = true
			default:
				idle -= j.Charge
				b.beginInside(w, now, h)
				out.Start(h)
			}
		})
		w.waiting = slices.DeleteFunc(w.waiting, func(h batch.Handle) bool { return b.jobs[h].State == Running })
	}
	return false
}

// NextServe returns the next instant at which a pass is wanted for reservations.
func (b *Base) NextServe() batch.Time {
	if b.killing {
		return 0
	}
	next := batch.Never
	for i := range b.windows {
		if w := &b.windows[i]; w.Open && len(w.waiting) > 0 {
			next = min(next, w.next)
		}
	}
	return next
}

// planInside plans the jobs that wait in a reservation, in order, each in its earliest
// slot that delays no earlier one. It calls each for those that end in time, and returns
// the remaining capacity.
func (b *Base) planInside(now batch.Time, w *window, each func(batch.Handle, batch.Time)) *profile.Profile {
	begins := max(now, w.Start)
	if b.inner == nil {
		b.inner = profile.New(begins, w.Charge)
	}
	b.inner.Reset(begins, w.Charge)
	for _, h := range w.running {
		end := b.running[b.jobs[h].at].end
		if end <= now { // overrunning
			end = now.Add(max(now.Sub(end), batch.Second))
		}
		b.inner.Reserve(begins, end, b.jobs[h].Charge)
	}
	for _, h := range w.waiting {
		j := &b.jobs[h]
		if j.State != Waiting { // unconfirmed: it has only its position in the order
			continue
		}
		start := b.inner.Fit(max(begins, j.Spec.EarliestStart), j.Walltime, j.Charge)
		if start.Add(j.Walltime) > w.End {
			continue
		}
		b.inner.Reserve(start, start.Add(j.Walltime), j.Charge)
		each(h, start)
	}
	return b.inner
}

// AnswerInside answers an ask about a job in a reservation, and reports whether the ask
// is about one. Each pass replans these jobs.
func (b *Base) AnswerInside(now batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	h, into := a.Job.Handle, a.Job.Into
	if h != batch.NoJob {
		into = b.jobs[h].within
	}
	if into == batch.NoJob {
		return false
	}
	out.Kind, out.P = batch.Planned, 0
	starts := out.Grow(len(a.Shapes))
	standing, w := batch.Never, b.window(into)
	if w != nil {
		left := b.planInside(now, w, func(x batch.Handle, start batch.Time) {
			if x == h {
				standing = start
			}
		})
		if h == batch.NoJob {
			from := max(now, w.Start, a.From, a.Job.EarliestStart)
			for i, s := range a.Shapes {
				if starts[i] = left.Fit(from, s.Walltime, b.ChargeOf(s.Width, a.Job.Memory)); starts[i].Add(
					s.Walltime,
				) > w.End {
					starts[i] = batch.Never
				}
			}
			KeepDeadline(a, out)
			return true
		}
	}
	for i := range starts {
		starts[i] = standing
	}
	return true
}
