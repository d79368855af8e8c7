package counted

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/queue"
)

// Backlog is the base of policies that keep a queue but no plan for waiting jobs: FCFS,
// EASY and dynP. Its profile holds only running jobs, so free capacity never decreases
// with time, unless it is Guarded.
type Backlog struct {
	Base
	// Changed says that an event since the owner last reset it may let any queued job
	// start, so the whole queue must be examined. Events of queued jobs themselves
	// (arriving, leaving, being placed) do not set it; the owner judges those.
	Changed bool

	revision uint64
	agreed   []place    // jobs, in order
	broke    bool       // slots of agreed jobs may no longer fit
	early    batch.Time // the first earliest start of a waiting agreed job
}

// NewBacklog returns the backlog of an idle machine.
func NewBacklog(p batch.Platform) Backlog {
	b := Backlog{Base: New(p), Changed: true, early: batch.Never}
	b.parks = true
	return b
}

// NewUnparked returns the backlog of a policy that replans all waiting jobs at every
// event: jobs are in its queue from submission on, and the policy itself respects their
// earliest start.
func NewUnparked(p batch.Platform) Backlog {
	return Backlog{Base: New(p), Changed: true, early: batch.Never}
}

// Fork returns an independent copy.
func (b *Backlog) Fork() Backlog {
	return Backlog{b.Base.Fork(), b.Changed, b.revision, slices.Clone(b.agreed), b.broke, b.early}
}

// Revision returns a number that changes with every event except the arrival of jobs at
// the end of the queue. While it is the same, plans of earlier jobs remain valid.
func (b *Backlog) Revision() uint64 { return b.revision }

// Apply applies one event that is not for ApplyAgreed; see batch.Policy.
func (b *Backlog) Apply(now batch.Time, ev *batch.Event) {
	b.Profile.Trim(now)
	if t, mine := b.Turn(now, ev); mine {
		if t.Outside {
			b.revision++
			b.Changed, b.broke = true, b.broke || t.Broke
		}
		return
	}
	if ev.Kind != batch.Submit && ev.Kind != batch.Reserve {
		b.revision++
	}
	switch ev.Kind {
	case batch.Submit, batch.Reserve:
		b.Admit(now, ev.Spec, ev.Kind == batch.Reserve)
	case batch.Adopt:
		b.Adopt(now, ev)
		b.Changed, b.broke = true, true
	case batch.Cancel:
		b.Forget(ev.Job)
	case batch.Finish:
		charge, end := b.Finish(ev.Job)
		b.release(now, charge, end)
	case batch.StartFailed:
		charge, end := b.Fail(ev.Job)
		b.release(now, charge, end)
	case batch.Hold:
		b.Hold(ev.Job)
	case batch.Place:
		b.Place(now, ev)
	case batch.Confirm:
		b.Confirm(now, ev.Job)
	case batch.NodeUp, batch.NodeDown:
		b.SwitchNode(now, ev.Node, ev.Kind == batch.NodeUp)
		b.Changed, b.broke = true, true
	default:
		panic(fmt.Sprintf("counted: event %v has no meaning here", ev.Kind))
	}
}

func (b *Backlog) release(now batch.Time, charge int32, end batch.Time) {
	b.Profile.Release(now, end, charge)
	b.Changed = true
}

// Prepare begins a pass: jobs past their earliest start join the queue, jobs that
// overrun are booked for longer, and reservations are served. It reports whether the
// pass is over; see Serve.
func (b *Backlog) Prepare(now batch.Time, out *batch.Decisions) (over bool) {
	b.Profile.Trim(now)
	if b.Serve(now, out) {
		return true
	}
	came, overran := b.Unpark(now), b.Settle(now, b.due(now))
	if b.broke || overran {
		b.mend(now)
	}
	if came || overran || b.nextAgreed() <= now {
		b.Changed = true
		b.revision++
	}
	b.early = batch.Never
	for _, a := range b.agreed {
		if from := b.jobs[a.job].Spec.EarliestStart; from > now && from < a.start {
			b.early = min(b.early, from)
		}
	}
	return false
}

// FirstReady returns block and position of the first queued job that may start; a nil
// block if there is none.
func (b *Backlog) FirstReady() (*queue.Block, int) {
	for q := b.Queue.Head(); q != nil; q = b.Queue.Next(q) {
		for i := range q.N {
			if b.jobs[q.Job[i]].State == Waiting {
				return q, i
			}
		}
	}
	return nil, 0
}

// Ready reports whether a job is queued and may start.
func (b *Backlog) Ready(h batch.Handle) bool {
	j := &b.jobs[h]
	return j.State == Waiting && j.within == batch.NoJob && !j.Spec.Agreed
}

// Incoming calls yield with each job that is not confirmed yet: agreed ones, then
// the others, in order. It has the form of an iter.Seq.
func (b *Backlog) Incoming(yield func(batch.Handle) bool) {
	for _, a := range b.agreed {
		if b.jobs[a.job].State == Incoming && !yield(a.job) {
			return
		}
	}
	for q := b.Queue.Head(); q != nil; q = b.Queue.Next(q) {
		for _, h := range q.Job[:q.N] {
			if b.jobs[h].State == Incoming && !yield(h) {
				return
			}
		}
	}
}

// Whole reports whether all waiting jobs are queued and may start. Otherwise a job that
// is incoming, held or before its earliest start can still enter ahead of others.
func (b *Backlog) Whole() bool {
	for i := range b.jobs {
		switch b.jobs[i].State {
		case Parked, Incoming, Held:
			return false
		}
	}
	return true
}

// Launch starts a job that was removed from the queue.
func (b *Backlog) Launch(now batch.Time, h batch.Handle, out *batch.Decisions) {
	b.revision++
	b.Begin(now, h)
	b.Profile.Reserve(now, b.PlannedEnd(h), b.Job(h).Charge)
	out.Start(h)
}

// Wake returns the next instant at which a job joins the queue or can start without an
// event.
func (b *Backlog) Wake() batch.Time { return min(b.NextParked(), b.nextAgreed(), b.NextServe()) }

// The rest of batch.Runnable, for policies that do not know better. Estimate is theirs to
// write: a policy without a plan returns itself from it.

// Underway yields nothing: a policy that counts processors pauses and moves no jobs.
func (b *Backlog) Underway(func(batch.Event) bool) {}

// Worth returns Forecast: a job that comes later may start first.
func (b *Backlog) Worth() batch.Kind { return batch.Forecast }

// AnswerFixed answers asks about reservations, jobs in them, and agreed jobs, beside the
// slots that are in the profile, and says whether an ask is one.
func (b *Backlog) AnswerFixed(now batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	if b.AnswerInside(now, a, out) {
		return true
	}
	if !b.Fixed(a) {
		return false
	}
	plan := b
	if b.Overdue(now) != 0 {
		c := b.Fork()
		plan = &c
		plan.Prepare(now, &batch.Decisions{})
	}
	plan.AnswerBeside(now, a, plan.Profile, out)
	return true
}
