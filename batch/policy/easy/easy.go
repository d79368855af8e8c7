// Package easy is EASY backfilling (D. Lifka, "The ANL/IBM SP Scheduling
// System", JSSPP 1995).
//
// The first job of the queue has a reservation: the shadow time, at which enough
// processors will be free for it if the running jobs use up their walltimes. The
// processors it will not need then are spare. Behind it, in submission order,
// every job may start that fits now and either ends by the shadow time or takes
// spare processors only, so that the first job is never delayed.
//
//	processors       shadow time of job 2
//	4 ┤ 1 1 1 1 │ 2 2 2
//	3 ┤ 1 1 1 1 │ 2 2 2      job 3 ends by the shadow time and starts now;
//	2 ┤ 3 3 3 . │ 2 2 2      job 4 takes the spare processor
//	1 ┤ 4 4 4 4 │ 4 4 4
//	  └─────────┴──────▶ time
//
// Nothing is promised to the other jobs: estimates are forecasts. Advance
// reservations and agreed jobs have places of their own, which nobody gets in the
// way of; the shadow time is then the head's earliest fit beside them.
package easy

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/batch/plan/queue"
)

// Policy is EASY. It implements batch.Policy.
type Policy struct {
	counted.Backlog
	head   batch.Handle   // the first job when the last pass ended, while it waits; if Changed, maybe no more
	shadow batch.Time     // of it
	spare  int32          // at the shadow time; without meaning if Guarded
	fresh  []batch.Handle // came behind the head since the last pass
	levels []profile.Level
}

// New returns EASY for a platform. It has no settings.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	if err := s.Only("easy"); err != nil {
		return nil, err
	}
	return &Policy{Backlog: counted.NewBacklog(p)}, nil
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy {
	return &Policy{p.Backlog.Fork(), p.head, p.shadow, p.spare, slices.Clone(p.fresh), nil}
}

// First returns a copy with all that runs and only the first n of those who wait,
// and what its jobs are called here; see package forecast.
func (p *Policy) First(n int) (batch.Policy, []batch.Handle) {
	front, names := p.Backlog.First(n)
	return &Policy{Backlog: front}, names // the first pass makes the reservation anew
}

// Apply takes one event.
//
// Behind the head a job that leaves changes nothing for the others: they could not
// start for what runs and for the reservation. One that comes, by itself or by
// being placed or confirmed, has to be looked at alone.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Measured { // needs are those that were asked for
		return
	}
	if p.AboutAgreed(ev) {
		give := p.holdHead(now)
		p.ApplyAgreed(now, ev, p.Profile)
		give()
		return
	}
	if ev.Job == p.head {
		p.Changed, p.head = true, batch.NoJob
	}
	p.Backlog.Apply(now, ev)
	switch ev.Kind {
	case batch.Submit:
		p.come(ev.Spec.Handle)
	case batch.Place, batch.Confirm:
		p.come(ev.Job)
	}
}

// come notes a job that may stand in the queue anew.
func (p *Policy) come(h batch.Handle) {
	switch {
	case p.Changed || !p.Ready(h):
	case p.Before(h, p.head):
		p.Changed = true
	default:
		p.fresh = append(p.fresh, h)
	}
}

// Decide starts jobs from the head of the queue while they fit, makes the
// reservation of the first one left, and backfills behind it.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	if p.Prepare(now, out) {
		return
	}
	switch guarded := p.Guarded(); {
	case p.Changed && guarded:
		p.guardedPass(now, out)
	case p.Changed:
		p.pass(now, out)
	case guarded:
		p.guardedArrivals(now, out)
	default:
		p.arrivals(now, out)
	}
	p.fresh = p.fresh[:0]
}

// pass looks at the whole queue.
func (p *Policy) pass(now batch.Time, out *batch.Decisions) {
	b, i := p.FirstReady()
	for b != nil && b.Charge[i] <= p.Free {
		p.Launch(now, p.Queue.RemoveAt(b, i).Job, out)
		b, i = p.FirstReady()
	}
	// Without a first job there is no reservation that arrivals could be held
	// against: the next pass has to look at the queue again.
	p.Changed, p.head = b == nil, batch.NoJob
	if b != nil {
		p.head = b.Job[i]
		p.reserve(now, b.Charge[i])
		p.backfill(now, b, i+1, out)
	}
}

// arrivals looks at the jobs that came since the last pass. Nothing else has
// happened: who could not start then cannot start now, for no more is free and
// the shadow time is nearer.
func (p *Policy) arrivals(now batch.Time, out *batch.Decisions) {
	for h := range p.arrived {
		if b, i := p.Queue.Locate(h); p.fits(now, b, i) {
			p.start(now, b, i, out)
		}
	}
}

// arrived calls yield with the jobs that came since the last pass, in order. It has
// the form of an iter.Seq.
func (p *Policy) arrived(yield func(batch.Handle) bool) {
	slices.SortFunc(p.fresh, func(a, b batch.Handle) int {
		if p.Before(a, b) {
			return -1
		}
		return 1
	})
	for _, h := range p.fresh {
		if p.Ready(h) && !yield(h) { // else it has left again, or is listed twice
			return
		}
	}
}

// reserve finds the shadow time of a head of the given charge, and what is spare
// then. A head that the machine, with nodes down, cannot hold waits without
// standing in anybody's way.
func (p *Policy) reserve(now batch.Time, charge int32) {
	p.shadow, p.spare = p.Profile.Fit(now, 1, charge), 0
	if p.shadow != batch.Never {
		p.spare = p.Profile.Free(p.shadow) - charge
	}
}

// backfill goes through the queue from position i of block b on. A job that
// starts and runs past the shadow time takes spare processors; the shadow time
// itself stays, for the profile has not changed before it in what the head
// needs. So the reservation is that of a search made anew after each start.
func (p *Policy) backfill(now batch.Time, b *queue.Block, i int, out *batch.Decisions) {
	for ; b != nil && p.Free > 0; b, i = p.Queue.Next(b), 0 {
		if b.Least > p.Free {
			continue
		}
		for i < b.N {
			if !p.fits(now, b, i) || p.Job(b.Job[i]).State != counted.Waiting {
				i++
				continue
			}
			p.start(now, b, i, out)
		}
	}
}

// start backfills the job at position i of block b.
func (p *Policy) start(now batch.Time, b *queue.Block, i int, out *batch.Decisions) {
	it := p.Queue.RemoveAt(b, i)
	if now.Add(it.Walltime) > p.shadow {
		p.spare -= it.Charge
	}
	p.Launch(now, it.Job, out)
}

func (p *Policy) fits(now batch.Time, b *queue.Block, i int) bool {
	c := b.Charge[i&(queue.BlockSize-1)]
	return c <= p.Free && (c <= p.spare || now.Add(b.Walltime[i&(queue.BlockSize-1)]) <= p.shadow)
}

// Estimate leaves the answer to a forecaster: EASY plans the head of its queue alone.
func (p *Policy) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return p }

// Room returns what a job that came last could have now; see package forecast.
func (p *Policy) Room(now batch.Time, out []profile.Level) []profile.Level {
	if p.Guarded() {
		return p.guardedRoom(now, out)
	}
	if b, _ := p.FirstReady(); b == nil || p.shadow == batch.Never {
		return append(out, profile.Level{Free: p.Free, Until: batch.Never})
	}
	return append(out, profile.Level{Free: p.Free, Until: p.shadow},
		profile.Level{Free: min(p.spare, p.Free), Until: batch.Never})
}
