// Package cbf is conservative backfilling (A. Mu'alem and D. Feitelson,
// "Utilization, Predictability, Workloads, and User Runtime Estimates in
// Scheduling the IBM SP2 with Backfilling", IEEE TPDS 2001).
//
// Every job gets a slot in the plan on arrival: the earliest one that delays no other
// job. When capacity is freed ahead of plan, because a job ended early or left, the
// plan is compressed: each waiting job, in submission order, is removed and placed at
// its earliest fit. A planned start therefore only gets earlier, and estimates are
// promises.
//
//	processors
//	4 ┤ 1 1 1 2 2 2         job 3 fits before job 2 without delaying it;
//	3 ┤ 1 1 1 2 2 2         job 4 would delay it and goes behind
//	2 ┤ 3 3 . 2 2 2 4 4
//	1 ┤ 3 3 . 2 2 2 4 4
//	  └──────────────▶ time
//
// Compression skips most jobs: see compress.
//
// The machine can break promises. When a node goes down, or a job overruns its
// walltime, all waiting jobs are planned from scratch; agreed jobs keep their slots
// where possible.
//
// Advance reservations are slots that never move.
package cbf

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/batch/plan/queue"
)

// Policy is CBF. It implements batch.Policy.
type Policy struct {
	counted.Base
	ended bool // capacity was freed since the last compression
	freed gaps // where; includes what the last compression freed, which earlier jobs have not seen
	gaps  gaps // gaps of the running compression
	broke bool // the machine has broken promises: replan
	long  int  // profile steps above which gaps are kept separate
	first bounds

	menu      counted.Menu
	soonest   profile.Soonest
	sweep     profile.Sweep
	charges   []int32
	walltimes []batch.Duration
}

// New returns CBF for a platform. It has no settings.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	if err := s.Only("cbf"); err != nil {
		return nil, err
	}
	return &Policy{Base: counted.New(p), long: 256}, nil
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy {
	return &Policy{Base: p.Base.Fork(), ended: p.ended, freed: slices.Clone(p.freed), broke: p.broke, long: p.long}
}

// Apply takes one event. See batch.Policy.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Measured { // this policy plans with declared needs
		return
	}
	p.Profile.Trim(now)
	if t, mine := p.Turn(now, ev); mine {
		p.turned(t)
		return
	}
	switch ev.Kind {
	case batch.Submit, batch.Reserve:
		p.compress(now) // capacity freed at this instant goes to the waiting jobs first
		p.Admit(now, ev.Spec, ev.Kind == batch.Reserve)
		p.enter(now, ev.Spec.Handle)
	case batch.Finish:
		charge, end := p.Finish(ev.Job)
		p.release(now, end, charge)
	case batch.StartFailed:
		charge, end := p.Fail(ev.Job)
		p.release(now, end, charge)
		if p.Job(ev.Job).Spec.Agreed { // its slot stays its own
			p.plan(now, ev.Job)
		}
		p.compress(now)
		p.place(now, ev.Job)
	case batch.Adopt: // existing slots were planned without it
		p.Adopt(now, ev)
		p.broke = p.broke || p.Queue.Len() > 0
	case batch.Cancel:
		p.vacate(p.Forget(ev.Job))
	case batch.Hold:
		p.vacate(p.Hold(ev.Job))
	case batch.Place:
		p.vacate(p.Place(now, ev))
		p.compress(now) // as for a submission
		p.place(now, ev.Job)
	case batch.Confirm:
		p.Confirm(now, ev.Job)
		p.confirmed(now, ev.Job)
	case batch.NodeUp, batch.NodeDown:
		p.SwitchNode(now, ev.Node, ev.Kind == batch.NodeUp)
		p.ended = true
		p.freed.add(gap{now, batch.Never, unknown}, p.many())
		p.broke = p.broke || ev.Kind == batch.NodeDown
	default:
		panic(fmt.Sprintf("cbf: event %v has no meaning here", ev.Kind))
	}
}

// turned updates the plan after an event about a reservation.
func (p *Policy) turned(t counted.Turned) {
	p.broke = p.broke || t.Broke
	if t.From < t.To {
		p.ended = true
		p.freed.add(gap{t.From, t.To, unknown}, p.many())
	}
}

// Decide starts the jobs that are due to start.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	p.Profile.Trim(now)
	if p.Serve(now, out) {
		return
	}
	p.compress(now)
	if p.giveUp(now) {
		p.compress(now)
	}
	if p.Settle(now, p.due(now)) {
		p.broke = true
	}
	for {
		if p.broke {
			p.replan(now)
		}
		if p.startDue(now, out); !p.broke {
			return
		}
	}
}

// giveUp removes the slots of incoming jobs that are due to start: they must
// not start, and keep only their position in the order. It reports whether there were
// any.
func (p *Policy) giveUp(now batch.Time) bool {
	any := false
	for b := range p.dueBlocks(now) {
		for i := range b.N {
			if b.Start[i] <= now && p.Job(b.Job[i]).State == counted.Incoming {
				p.release(b.Start[i], b.Start[i].Add(b.Walltime[i]), b.Charge[i])
				p.Queue.SetStart(b, i, batch.Never)
				any = true
			}
		}
	}
	return any
}

// startDue starts the jobs that are due to start. A job that starts late,
// because the driver was late, runs into slots planned behind it. If those are taken,
// or other late jobs have taken its own slot, the plan is broken.
func (p *Policy) startDue(now batch.Time, out *batch.Decisions) {
	for b := range p.dueBlocks(now) {
		for i := 0; i < b.N; {
			if b.Start[i] > now {
				i++
				continue
			}
			if b.Charge[i] > p.Free {
				p.broke = true
				i++
				continue
			}
			it := p.Queue.RemoveAt(b, i)
			p.Begin(now, it.Job)
			out.Start(it.Job)
			if it.Start < now {
				from, to := max(it.Start.Add(it.Walltime), now), now.Add(it.Walltime)
				p.broke = p.broke || p.Profile.Fit(from, to.Sub(from), it.Charge) != from
				p.Profile.Reserve(from, to, it.Charge)
			}
		}
	}
}

// dueBlocks is an iter.Seq of the blocks that may hold a job that is due
// come.
func (p *Policy) dueBlocks(now batch.Time) func(func(*queue.Block) bool) {
	return func(yield func(*queue.Block) bool) {
		if p.Queue.FirstStart() > now {
			return
		}
		for b := p.Queue.Head(); b != nil; b = p.Queue.Next(b) {
			if b.First <= now && !yield(b) {
				return
			}
		}
	}
}

// Wake returns the next planned start.
func (p *Policy) Wake() batch.Time { return min(p.Queue.FirstStart(), p.NextServe()) }

// enter is plan for a new job, which can use the bounds: since capacity was last freed,
// no earlier job found a fit before them.
func (p *Policy) enter(now batch.Time, h batch.Handle) {
	if p.Profile.Len() < p.long { // a search is cheap
		p.plan(now, h)
		return
	}
	b, i := p.Queue.Locate(h)
	charge, walltime := b.Charge[i], b.Walltime[i]
	p.first.begin(p.Profile.Grown())
	p.plan(max(now, p.first.of(charge, walltime)), h)
	if start := b.Start[i]; start != batch.Never && p.Job(h).Spec.EarliestStart <= now {
		p.first.note(charge, walltime, start)
	}
}

// plan gives a queued job without a slot the earliest one, not before from, that delays
// no other job.
func (p *Policy) plan(from batch.Time, h batch.Handle) {
	b, i := p.Queue.Locate(h)
	from = max(from, p.Job(h).Spec.EarliestStart)
	start := p.Profile.Fit(from, b.Walltime[i], b.Charge[i])
	p.Queue.SetStart(b, i, start)
	if start != batch.Never {
		p.Profile.Reserve(start, start.Add(b.Walltime[i]), b.Charge[i])
	}
}

// place plans a queued job if it has no slot; a compression may have found one.
func (p *Policy) place(now batch.Time, h batch.Handle) {
	if b, i := p.Queue.Locate(h); b.Start[i] == batch.Never {
		p.plan(now, h)
	}
}

// confirmed lets an incoming job, which kept its slot while others moved up, move up
// too. The capacity that it leaves is free for all; usually there is none, and no
// compression is needed.
func (p *Policy) confirmed(now batch.Time, h batch.Handle) {
	b, i := p.Queue.Locate(h)
	start, end := b.Start[i], b.Start[i].Add(b.Walltime[i])
	if start == batch.Never {
		p.plan(now, h)
		return
	}
	p.Profile.Release(start, end, b.Charge[i])
	p.plan(now, h)
	from, to := b.Start[i], b.Start[i].Add(b.Walltime[i])
	for _, g := range []gap{{start, min(from, end), unknown}, {max(start, to), end, unknown}} {
		if g.start < g.end {
			p.ended = true
			p.freed.add(g, p.many())
		}
	}
}

// vacate frees the slot of a job that left the queue.
func (p *Policy) vacate(it queue.Item, queued bool) {
	if queued && it.Start != batch.Never {
		p.release(it.Start, it.Start.Add(it.Walltime), it.Charge)
	}
}

func (p *Policy) release(start, end batch.Time, charge int32) {
	p.Profile.Release(start, end, charge)
	p.ended = true
	p.freed.add(gap{start, end, unknown}, p.many())
}

// due returns the charges of the jobs that are due to start.
func (p *Policy) due(now batch.Time) int32 {
	var sum int32
	for b := range p.dueBlocks(now) {
		for i := range b.N {
			if b.Start[i] <= now {
				sum += b.Charge[i]
			}
		}
	}
	return sum
}
