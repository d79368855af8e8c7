package counted

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// place is the slot of an agreed job in the profile of a backlog. The job waits there,
// not in the queue, and can start earlier but not later.
type place struct {
	job   batch.Handle
	start batch.Time // Never for an incoming job that gave up its slot
}

// Guarded reports whether the profile holds more than running jobs. Free capacity can
// then decrease with time, and a job must fit until its end to start.
func (b *Backlog) Guarded() bool { return len(b.windows)+len(b.agreed) > 0 }

// Fits reports whether a job can start now beside everything in the profile.
func (b *Backlog) Fits(now batch.Time, charge int32, d batch.Duration) bool {
	return charge <= b.Free && b.Profile.Lowest(now, now.Add(d)) >= charge
}

// AboutAgreed reports whether an event is for ApplyAgreed: it gives an agreed job a slot
// or removes it.
func (b *Backlog) AboutAgreed(ev *batch.Event) bool {
	switch ev.Kind {
	case batch.Submit, batch.Reserve:
		return ev.Spec.Agreed && ev.Spec.Window == nil && ev.Spec.Into == batch.NoJob
	case batch.Cancel, batch.StartFailed, batch.Hold, batch.Place, batch.Confirm:
		j := &b.jobs[ev.Job]
		return j.Spec != nil && j.Spec.Agreed && j.Spec.Window == nil && j.within == batch.NoJob
	}
	return false
}

// ApplyAgreed applies an event about an agreed job. The job's slot, if it gets one, is
// the earliest fit in the given profile: the backlog's own, or one that also holds
// other jobs that must not be delayed.
func (b *Backlog) ApplyAgreed(now batch.Time, ev *batch.Event, beside *profile.Profile) {
	b.Profile.Trim(now)
	b.revision++
	b.Changed = true
	h := ev.Job
	switch ev.Kind {
	case batch.Submit, batch.Reserve:
		h = ev.Spec.Handle
		j := b.admit(ev.Spec)
		if j.State = Waiting; ev.Kind == batch.Reserve {
			j.State = Incoming
		}
		b.list(h)
	case batch.Cancel:
		b.unlist(h, beside)
		b.jobs[h] = Job{}
		return
	case batch.Hold:
		b.unlist(h, beside)
		b.jobs[h].State = Held
		return
	case batch.StartFailed:
		charge, end := b.stop(h)
		b.give(now, end, charge, beside)
		b.jobs[h].State = Waiting
		b.list(h)
	case batch.Confirm:
		b.jobs[h].State = Waiting
		if b.agreed[b.listed(h)].start != batch.Never {
			return
		}
	case batch.Place:
		b.unlist(h, beside)
		j := &b.jobs[h]
		if !ev.Restore {
			b.seq++
			j.seq = b.seq
		}
		j.Charge, j.Walltime, j.State = b.ChargeOf(ev.Shape.Width, j.Spec.Memory), ev.Shape.Walltime, Waiting
		b.list(h)
	}
	b.seat(now, b.listed(h), beside)
}

// seat gives an agreed job its slot.
func (b *Backlog) seat(from batch.Time, k int, beside *profile.Profile) {
	a := &b.agreed[k]
	j := &b.jobs[a.job]
	a.start = beside.Fit(max(from, j.Spec.EarliestStart), j.Walltime, j.Charge)
	if a.start != batch.Never {
		b.Profile.Reserve(a.start, a.start.Add(j.Walltime), j.Charge)
	}
}

// list inserts an agreed job without a slot among the others, in order.
func (b *Backlog) list(h batch.Handle) {
	at, _ := slices.BinarySearchFunc(b.agreed, b.jobs[h].seq, func(a place, seq int64) int {
		return int(b.jobs[a.job].seq - seq)
	})
	b.agreed = slices.Insert(b.agreed, at, place{h, batch.Never})
}

// listed returns the index of an agreed job among the others; -1 if it is held.
func (b *Backlog) listed(h batch.Handle) int {
	return slices.IndexFunc(b.agreed, func(a place) bool { return a.job == h })
}

// unlist removes an agreed job and its slot, unless it is held.
func (b *Backlog) unlist(h batch.Handle, beside *profile.Profile) {
	if k := b.listed(h); k >= 0 {
		b.leave(k, beside)
		b.agreed = slices.Delete(b.agreed, k, k+1)
	}
}

// leave removes the slot of an agreed job from the profile.
func (b *Backlog) leave(k int, beside *profile.Profile) {
	if a := &b.agreed[k]; a.start != batch.Never {
		j := &b.jobs[a.job]
		b.give(a.start, a.start.Add(j.Walltime), j.Charge, beside)
		a.start = batch.Never
	}
}

func (b *Backlog) give(start, end batch.Time, charge int32, beside *profile.Profile) {
	b.Profile.Release(start, end, charge)
	if beside != b.Profile {
		beside.Release(start, end, charge)
	}
}

// mend replaces the slots of agreed jobs that no longer fit after the machine has broken
// promises. It moves the last jobs first, until the slots of the others fit.
func (b *Backlog) mend(now batch.Time) {
	b.broke = false
	for k, a := range slices.Backward(b.agreed) {
		end := a.start.Add(b.jobs[a.job].Walltime)
		if a.start != batch.Never && (end <= now || b.Profile.Lowest(max(a.start, now), end) < 0) {
			b.leave(k, b.Profile)
		}
	}
	for k, a := range b.agreed {
		if a.start == batch.Never && b.jobs[a.job].State == Waiting {
			b.seat(now, k, b.Profile)
		}
	}
}

// due returns the charges of the agreed jobs that are due to start.
func (b *Backlog) due(now batch.Time) (sum int32) {
	for _, a := range b.agreed {
		if j := &b.jobs[a.job]; a.start <= now && now < a.start.Add(j.Walltime) {
			sum += j.Charge
		}
	}
	return sum
}

// Overdue returns the processors of jobs and reservations that run past their planned
// ends, which the profile does not show.
func (b *Backlog) Overdue(now batch.Time) int32 { return b.overdue(now, b.due(now)) }

// nextAgreed returns the next instant at which an agreed job starts, or may start early,
// without an event.
func (b *Backlog) nextAgreed() batch.Time {
	next := b.early
	for _, a := range b.agreed {
		next = min(next, a.start)
	}
	return next
}

// StartDue starts the agreed jobs that are due to start. An incoming one gives up
// its slot. One that does not fit, because the machine lacks capacity, keeps waiting.
func (b *Backlog) StartDue(now batch.Time, out *batch.Decisions) {
	for k := 0; k < len(b.agreed); {
		a := b.agreed[k]
		switch j := &b.jobs[a.job]; {
		case a.start > now:
			k++
		case j.State == Incoming:
			b.leave(k, b.Profile)
			b.revision++
			k++
		case j.Charge > b.Free:
			b.leave(k, b.Profile)
			b.seat(now+1, k, b.Profile)
			b.revision++
			k++
		default:
			b.leave(k, b.Profile)
			b.launchAgreed(now, k, out)
			b.broke = b.broke || a.start < now // it may overlap other slots
		}
	}
}

// Agreed returns the number of waiting agreed jobs.
func (b *Backlog) Agreed() int { return len(b.agreed) }

// Agreement returns the k-th waiting agreed job in order, from 0.
func (b *Backlog) Agreement(k int) batch.Handle { return b.agreed[k].job }

// StartEarly starts the k-th waiting agreed job if it can start now, and reports whether
// it did; the job then no longer counts.
func (b *Backlog) StartEarly(now batch.Time, k int, out *batch.Decisions) bool {
	a := b.agreed[k]
	j := &b.jobs[a.job]
	if j.State != Waiting || j.Spec.EarliestStart > now || j.Charge > b.Free {
		return false
	}
	b.leave(k, b.Profile)
	if b.Fits(now, j.Charge, j.Walltime) {
		b.launchAgreed(now, k, out)
		return true
	}
	b.agreed[k].start = a.start
	b.Profile.Reserve(a.start, a.start.Add(j.Walltime), j.Charge)
	return false
}

func (b *Backlog) launchAgreed(now batch.Time, k int, out *batch.Decisions) {
	h := b.agreed[k].job
	b.agreed = slices.Delete(b.agreed, k, k+1)
	b.Launch(now, h, out)
}

// Fixed reports whether an ask is about a reservation or an agreed job, which have slots
// of their own in the profile.
func (b *Backlog) Fixed(a *batch.Ask) bool {
	if h := a.Job.Handle; h != batch.NoJob {
		return b.jobs[h].Spec != nil && b.jobs[h].Spec.Agreed
	}
	return a.Job.Window != nil || a.Job.Agreed
}

// AnswerBeside answers an ask that is Fixed, as ApplyAgreed would decide. The answer is
// a promise.
func (b *Backlog) AnswerBeside(now batch.Time, a *batch.Ask, beside *profile.Profile, out *batch.Estimate) {
	if a.Job.Handle == batch.NoJob && a.Job.Window != nil {
		b.AnswerWindow(now, a, beside, out)
		return
	}
	out.Kind, out.P = batch.Promised, 0
	starts := out.Grow(len(a.Shapes))
	if a.Job.Handle != batch.NoJob {
		start := batch.Never
		if k := b.listed(a.Job.Handle); k >= 0 {
			start = b.agreed[k].start
		}
		for i := range starts {
			starts[i] = start
		}
		return
	}
	from := max(now, a.From, a.Job.EarliestStart)
	for i, s := range a.Shapes {
		starts[i] = beside.Fit(from, s.Walltime, b.ChargeOf(s.Width, a.Job.Memory))
	}
	KeepDeadline(a, out)
}
