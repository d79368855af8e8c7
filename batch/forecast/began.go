package forecast

import "github.com/seed-9b8f70bb/drover/batch"

// began keeps when jobs start in a run, for asks about jobs that wait already.
type began []batch.Time // by handle; Never for those that have not

func (b *began) reset(handles batch.Handle) {
	*b = (*b)[:0]
	for range handles + 1 {
		*b = append(*b, batch.Never)
	}
}

func (b *began) note(job batch.Handle, now batch.Time) { (*b)[job] = now }

// answer writes the start of the job that an ask is about.
func (b *began) answer(a *batch.Ask, out *batch.Estimate) { fill(a, out, (*b)[a.Job.Handle]) }

func fill(a *batch.Ask, out *batch.Estimate, start batch.Time) {
	starts := out.Grow(len(a.Shapes))
	for i := range starts {
		starts[i] = start
	}
}

// runOut runs a policy forward until nothing happens any more.
func (f *Forecaster) runOut(now batch.Time, p Runnable) {
	r := f.launch(now, p.Fork().(Runnable))
	for t := now; t != batch.Never; t = r.next() {
		r.advance(t, batch.NoJob)
	}
}
