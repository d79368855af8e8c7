package counted

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// window is an advance reservation: booked processors with a queue of their own. They
// are not Free between opening and closing.
type window struct {
	batch.Reservation
	booked  batch.Time // end of its booking in the profile: later than End if it closes late
	free    int32      // its idle processors
	stirred bool       // an event since the last pass over its queue
	next    batch.Time // next pass over its queue without an event
	running []batch.Handle
	waiting []batch.Handle // in order
}

func (w *window) clone() window {
	c := *w
	c.running, c.waiting = slices.Clone(w.running), slices.Clone(w.waiting)
	return c
}

// Reservations calls yield with each reservation, in the order in which they were made.
// It is an iter.Seq.
func (b *Base) Reservations(yield func(batch.Reservation) bool) {
	for i := range b.windows {
		if !yield(b.windows[i].Reservation) {
			return
		}
	}
}

func (b *Base) window(h batch.Handle) *window {
	for i := range b.windows {
		if b.windows[i].Job == h {
			return &b.windows[i]
		}
	}
	return nil
}

// setAside books a reservation, without its past part. It reports whether the booking
// overlaps other slots; it is kept in either case.
func (b *Base) setAside(spec *batch.Job) (broke bool) {
	j := b.admit(spec)
	j.State = Reserved
	w := window{booked: spec.Window.End, free: j.Charge}
	w.Reservation = batch.Reservation{
		Job: spec.Handle, Start: spec.Window.Start, End: spec.Window.End, Charge: j.Charge,
	}
	b.windows = append(b.windows, w)
	if w.Start >= w.End || w.End <= b.Profile.Origin() {
		return false
	}
	b.Profile.Reserve(w.Start, w.End, w.Charge)
	return b.Profile.Lowest(w.Start, w.End) < 0
}

// open takes the booked processors. If they are not all free, because nodes are down or
// a job overruns, the reservation gets those that are, and other jobs get none.
func (b *Base) open(w *window) {
	if w.Open {
		return
	}
	w.Open, w.stirred = true, true
	b.Free -= w.Charge
}

// close removes a reservation that ends or is cancelled, and frees its idle processors.
// Jobs that run in it are to be killed and hold their processors until they have ended.
// Jobs that wait in it never start.
func (b *Base) close(now batch.Time, h batch.Handle) (back Turned) {
	i := slices.IndexFunc(b.windows, func(w window) bool { return w.Job == h })
	w := &b.windows[i]
	if w.Open {
		b.Free += w.Charge
	}
	for _, r := range w.running {
		j := &b.jobs[r]
		j.within = nowhere
		b.Free -= j.Charge
		b.running[j.at].end = now
		b.doomed = append(b.doomed, r)
	}
	for _, q := range w.waiting {
		b.jobs[q].within = nowhere
	}
	back = Turned{Outside: true, From: max(w.Start, now), To: w.booked}
	b.Profile.Release(back.From, back.To, w.Charge)
	b.jobs[h] = Job{}
	b.windows = slices.Delete(b.windows, i, i+1)
	return back
}

// unopened returns the processors of reservations that should be open by now: they are
// in the profile, and still in Free.
func (b *Base) unopened(now batch.Time) (sum int32) {
	for i := range b.windows {
		if w := &b.windows[i]; !w.Open && w.Start <= now && now < w.booked {
			sum += w.Charge
		}
	}
	return sum
}

// unclosed extends the bookings of reservations that should be closed by now, like those
// of jobs that overrun, and reports whether there were any.
func (b *Base) unclosed(now batch.Time) (any bool) {
	for i := range b.windows {
		w := &b.windows[i]
		if !w.Open || w.booked > now {
			continue
		}
		any = true
		w.booked = now.Add(max(now.Sub(w.End), batch.Second))
		b.Profile.Reserve(now, w.booked, w.Charge)
	}
	return any
}

// AnswerWindow answers an ask for a window from a plan that holds all jobs which must not
// be delayed. The answer is a promise.
func (b *Base) AnswerWindow(now batch.Time, a *batch.Ask, plan *profile.Profile, out *batch.Estimate) {
	out.Kind, out.P = batch.Promised, 0
	starts, w := out.Grow(len(a.Shapes)), a.Job.Window
	free := int32(0)
	if now <= w.Start && w.Start < w.End {
		free = plan.Lowest(w.Start, w.End)
	}
	for i, s := range a.Shapes {
		starts[i] = batch.Never
		if b.ChargeOf(s.Width, a.Job.Memory) <= free {
			starts[i] = w.Start
		}
	}
}

// KeepDeadline removes the shapes that would end after the deadline from the answer to an
// ask about an agreed job.
func KeepDeadline(a *batch.Ask, out *batch.Estimate) {
	if !a.Job.Agreed || a.Job.Deadline == 0 {
		return
	}
	for i, s := range a.Shapes {
		if out.End(i, s.Walltime) > a.Job.Deadline {
			out.Starts[i] = batch.Never
		}
	}
}
