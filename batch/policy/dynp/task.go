package dynp

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// task is a waiting job in a pass.
type task struct {
	job      batch.Handle
	shape    batch.Shape // the processors that it takes, and its walltime
	arrival  batch.Time
	from     batch.Time // earliest start
	first    batch.Time // start if no other job waited
	best     wide       // its summand of the metric then, a lower bound
	incoming bool
}

// gather collects the waiting jobs, in order of submission, and returns the sum of their
// processors.
func (p *Policy) gather(now batch.Time) (charges int64) {
	p.tasks = p.tasks[:0]
	for q := p.Queue.Head(); q != nil; q = p.Queue.Next(q) {
		for i, h := range q.Job[:q.N] {
			j := p.Job(h)
			p.tasks = append(p.tasks, task{
				job: h, shape: batch.Shape{Width: q.Charge[i], Walltime: q.Walltime[i]},
				arrival: p.arrived[h], from: max(now, j.Spec.EarliestStart), incoming: j.State == counted.Incoming,
			})
			charges += int64(q.Charge[i])
		}
	}
	return charges
}

// look finds each job's start if it were alone.
func (p *Policy) look() {
	for i := range p.tasks {
		t := &p.tasks[i]
		t.first = p.Profile.Fit(t.from, t.shape.Walltime, t.shape.Width)
	}
}
