// Package fcfs is first come, first served without backfilling: jobs start in
// submission order, and no job starts while the first one does not fit.
//
//	processors
//	4 ┤ 1 1 1 1 . 3 3        job 2 needs all four: it waits for job 1, and
//	3 ┤ 1 1 1 1 2 2 3 3      job 3, which would fit beside job 1, waits behind it
//	2 ┤ . . . . 2 2     ▲
//	1 ┤ . . . . 2 2     └ the last start: what is free from here on is all
//	  └─────────────▶ time  that the plan has to know
//
// Jobs do not overtake each other, so planned starts follow in order, and after the
// last start capacity only becomes free. A new job's slot therefore depends only on
// the profile from the last start on: one search, however many jobs wait. The plan
// is computed on the first estimate, extended by each submission, and dropped on any
// other event.
//
// Starts never get later than planned, however early jobs end, so estimates are
// promises. They are forecasts only while a job may still enter the queue ahead of
// others (incoming, held, or before its earliest start): jobs that start meanwhile
// can delay it, and it can delay others.
//
// Advance reservations and agreed jobs have slots of their own, chosen so that they
// delay no waiting job. Promises then hold: a job that starts no later than planned
// leaves the next one at least the planned capacity.
package fcfs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// Policy is FCFS. It implements batch.Policy.
type Policy struct {
	counted.Backlog
	plan    plan
	scratch line
	full    *profile.Profile
	charges []int32
	menu    counted.Menu
	soonest profile.Soonest
}

// New returns FCFS for a platform. It has no settings.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	if err := s.Only("fcfs"); err != nil {
		return nil, err
	}
	return &Policy{Backlog: counted.NewBacklog(p)}, nil
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy { return &Policy{Backlog: p.Backlog.Fork()} }

// Apply takes one event.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Measured { // this policy plans with declared needs
		return
	}
	if p.AboutAgreed(ev) {
		p.ApplyAgreed(now, ev, p.capacityBeside(now))
		return
	}
	p.Backlog.Apply(now, ev)
	if ev.Kind != batch.Submit && ev.Kind != batch.Reserve || ev.Spec.Window != nil || ev.Spec.Into != batch.NoJob {
		return
	}
	if p.plan.made && p.plan.revision == p.Revision() {
		p.plan.at = max(p.plan.at, now)
		p.add(now, ev.Spec.Handle)
	}
}

// Decide starts jobs from the head of the queue while they fit. Agreed jobs may start
// early while the queue is empty.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	if p.Prepare(now, out) {
		return
	}
	guarded := p.Guarded()
	if guarded {
		p.StartDue(now, out)
	}
	for {
		b, i := p.FirstReady()
		if b == nil || b.Charge[i] > p.Free || guarded && !p.Fits(now, b.Charge[i], b.Walltime[i]) {
			break
		}
		p.Launch(now, p.Queue.RemoveAt(b, i).Job, out)
	}
	for k := 0; k < p.Agreed() && p.Waiting() == 0; k++ {
		if p.StartEarly(now, k, out) {
			k = -1 // the slot it leaves may be what another one waits for
		}
	}
	p.Changed = false
}

// Worth returns the kind of this policy's estimates: starts never get later than a
// run of the queue on walltimes says, unless a job may enter ahead of others.
func (p *Policy) Worth() batch.Kind {
	if p.Whole() {
		return batch.Promised
	}
	return batch.Forecast
}
