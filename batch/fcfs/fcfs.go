// Package fcfs is first come, first served without backfilling: jobs start in
// submission order, and while the first one does not fit, nobody starts.
//
//	processors
//	4 ┤ 1 1 1 1 . 3 3        job 2 needs all four: it waits for job 1, and
//	3 ┤ 1 1 1 1 2 2 3 3      job 3, which would fit beside job 1, waits behind it
//	2 ┤ . . . . 2 2
//	1 ┤ . . . . 2 2
//	  └─────────────▶ time
//
// Starts never get later than a plan of the queue on walltimes says, however
// early jobs end: its estimates are promises. They are forecasts only where
// somebody may yet come in before others: one who is incoming, held or waits for
// his earliest start, for whoever starts in the meantime may put him off, and he
// others.
package fcfs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/counted"
)

// Policy is FCFS. It implements batch.Policy.
type Policy struct{ counted.Backlog }

// New returns FCFS for a platform. It has no settings.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	if err := s.Only("fcfs"); err != nil {
		return nil, err
	}
	return &Policy{counted.NewBacklog(p)}, nil
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy { return &Policy{p.Backlog.Fork()} }

// Decide starts jobs from the head of the queue while they fit.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	p.Prepare(now)
	for {
		b, i := p.FirstReady()
		if b == nil || b.Charge[i] > p.Free {
			break
		}
		p.Launch(now, p.Queue.RemoveAt(b, i).Job, out)
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

// Room returns what a job that came last could have now; see package forecast.
// Behind anybody who waits it could have nothing.
func (p *Policy) Room(batch.Time) (free int32, shadow batch.Time, spare int32) {
	if b, _ := p.FirstReady(); b != nil {
		return 0, 0, 0
	}
	return p.Free, batch.Never, p.Free
}
