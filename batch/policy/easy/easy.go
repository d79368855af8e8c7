// Package easy is EASY backfilling (D. Lifka, "The ANL/IBM SP Scheduling
// System", JSSPP 1995).
//
// The first job of the queue has a reservation: the shadow time, at which enough
// processors are free for it if the running jobs use their whole walltimes. The
// processors that it does not need then are spare. Behind it, in submission order,
// each job starts that fits now and either ends by the shadow time or takes only
// spare processors, so the first job is never delayed.
//
//	processors       shadow time of job 2
//	4 ┤ 1 1 1 1 │ 2 2 2
//	3 ┤ 1 1 1 1 │ 2 2 2      job 3 ends by the shadow time and starts now;
//	2 ┤ 3 3 3 . │ 2 2 2      job 4 takes the spare processor
//	1 ┤ 4 4 4 4 │ 4 4 4
//	  └─────────┴──────▶ time
//
// The other jobs get no promise: estimates are forecasts. Advance reservations and
// agreed jobs have slots of their own, which no job delays; the shadow time is then
// the head's earliest fit beside them.
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
	head   batch.Handle   // first job at the end of the last pass; may have left if Changed
	shadow batch.Time     // shadow time of head
	spare  int32          // processors at the shadow time; unused if Guarded
	fresh  []batch.Handle // jobs behind the head that arrived since the last pass
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

// First returns a copy with all running jobs and the first n waiting ones, and the
// original handles of its jobs; see package forecast.
func (p *Policy) First(n int) (batch.Policy, []batch.Handle) {
	front, names := p.Backlog.First(n)
	return &Policy{Backlog: front}, names // its first pass makes the reservation
}

// Apply takes one event.
//
// A job behind the head that leaves the queue does not affect the others: running jobs
// and the reservation kept them from starting. A job that enters, by submission, Place
// or Confirm, is the only one that a pass must examine.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Measured { // this policy plans with declared needs
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

// come records a job that may have entered the queue.
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

// pass examines the whole queue.
func (p *Policy) pass(now batch.Time, out *batch.Decisions) {
	b, i := p.FirstReady()
	for b != nil && b.Charge[i] <= p.Free {
		p.Launch(now, p.Queue.RemoveAt(b, i).Job, out)
		b, i = p.FirstReady()
	}
	// Without a head there is no reservation to check arrivals against: the next pass
	// must examine the whole queue.
	p.Changed, p.head = b == nil, batch.NoJob
	if b != nil {
		p.head = b.Job[i]
		p.reserve(now, b.Charge[i])
		p.backfill(now, b, i+1, out)
	}
}

// arrivals examines only the jobs that arrived since the last pass. Without other
// events no earlier job can start: no capacity was freed, and the shadow time is
// nearer.
func (p *Policy) arrivals(now batch.Time, out *batch.Decisions) {
	for h := range p.arrived {
		if b, i := p.Queue.Locate(h); p.fits(now, b, i) {
			p.start(now, b, i, out)
		}
	}
}

// arrived is an iter.Seq of the jobs that arrived since the last pass, in order.
func (p *Policy) arrived(yield func(batch.Handle) bool) {
	slices.SortFunc(p.fresh, func(a, b batch.Handle) int {
		if p.Before(a, b) {
			return -1
		}
		return 1
	})
	for _, h := range p.fresh {
		if p.Ready(h) && !yield(h) { // not ready: it left again, or is listed twice
			return
		}
	}
}

// reserve finds the shadow time of a head of the given charge, and the spare
// processors then. A head that does not fit the machine, because nodes are down,
// waits without delaying others.
func (p *Policy) reserve(now batch.Time, charge int32) {
	p.shadow, p.spare = p.Profile.Fit(now, 1, charge), 0
	if p.shadow != batch.Never {
		p.spare = p.Profile.Free(p.shadow) - charge
	}
}

// backfill examines the queue from position i of block b on. A started job that runs
// past the shadow time takes spare processors. The shadow time stays the same, because
// the head's capacity before it has not changed; a new search after each start would
// find it again.
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

// Room returns the capacity that a new job could use now; see package forecast.
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

// AnswerFixed answers asks about reservations, jobs in them and agreed jobs, and reports
// whether the ask is one of those. They may delay any waiting job but the head.
func (p *Policy) AnswerFixed(now batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	if p.AnswerInside(now, a, out) {
		return true
	}
	if !p.Fixed(a) {
		return false
	}
	plan := p
	if p.Overdue(now) != 0 {
		plan = p.Fork().(*Policy)
		plan.Decide(now, &batch.Decisions{})
	}
	give := plan.holdHead(now)
	plan.AnswerBeside(now, a, plan.Profile, out)
	give()
	return true
}

// guardedRoom is Room beside reservations and agreed jobs.
func (p *Policy) guardedRoom(now batch.Time, out []profile.Level) []profile.Level {
	give := p.holdHead(now)
	first := len(out)
	out = p.Profile.Levels(now, out)
	give()
	for i := first; i < len(out); i++ {
		out[i].Free = min(out[i].Free, p.Free)
	}
	return out
}
