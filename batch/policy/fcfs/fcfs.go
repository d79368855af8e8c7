// Package fcfs is first come, first served without backfilling: jobs start in
// submission order, and while the first one does not fit, nobody starts.
//
//	processors
//	4 ┤ 1 1 1 1 . 3 3        job 2 needs all four: it waits for job 1, and
//	3 ┤ 1 1 1 1 2 2 3 3      job 3, which would fit beside job 1, waits behind it
//	2 ┤ . . . . 2 2     ▲
//	1 ┤ . . . . 2 2     └ the last start: what is free from here on is all
//	  └─────────────▶ time  that the plan has to know
//
// Nobody is passed, so starts on walltimes follow each other, and after the last
// one only ends follow. A job that comes last is therefore placed by what is free
// from the last start on alone: one search, however many wait. The plan is made
// when somebody asks, goes on with each job that comes, and is thrown away when
// anything else happens.
//
// Starts never get later than the plan says, however early jobs end: its
// estimates are promises. They are forecasts only where somebody may yet come in
// before others: one who is incoming, held or waits for his earliest start, for
// whoever starts in the meantime may put him off, and he others.
//
// Advance reservations and agreed jobs have places of their own, found where they put
// nobody off who waits. So promises hold: with all rectangles where they are, whoever
// has started no later than planned leaves the next one no less room than planned.
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
	if ev.Kind == batch.Measured { // needs are those that were asked for
		return
	}
	if p.AboutAgreed(ev) {
		p.ApplyAgreed(now, ev, p.everybody(now))
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

// Decide starts jobs from the head of the queue while they fit. While nobody waits in
// it agreed jobs may start early.
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
			k = -1 // what it leaves behind may be what another has waited for
		}
	}
	p.Changed = false
}

// Worth says what a forecast of this policy is worth. Starts never get later than
// a run of the queue on walltimes says, if the queue is all there is.
func (p *Policy) Worth() batch.Kind {
	if p.Whole() {
		return batch.Promised
	}
	return batch.Forecast
}
