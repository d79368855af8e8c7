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
	from     batch.Time // not before
	first    batch.Time // where it would start if no other waited
	best     wide       // what it adds to the metric then, at least
	incoming bool
}

// gather takes in who waits, in the order of submission, and returns how many
// processors they take.
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

// look finds where each job would start alone.
func (p *Policy) look() {
	for i := range p.tasks {
		t := &p.tasks[i]
		t.first = p.Profile.Fit(t.from, t.shape.Walltime, t.shape.Width)
	}
}
