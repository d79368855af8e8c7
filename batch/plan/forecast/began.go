package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// began keeps when jobs start in a run, or go on for the first time, for asks about jobs
// that wait already, paused ones among them.
type began []batch.Time // by handle; Never for those that have not

func (b *began) reset(handles batch.Handle) {
	*b = (*b)[:0]
	for range handles + 1 {
		*b = append(*b, batch.Never)
	}
}

func (b *began) note(job batch.Handle, now batch.Time) { (*b)[job] = min((*b)[job], now) }

func fill(a *batch.Ask, out *batch.Estimate, start batch.Time) {
	starts := out.Grow(len(a.Shapes))
	for i := range starts {
		starts[i] = start
	}
}

// runOut runs a policy forward until nothing happens any more.
func (f *Forecaster) runOut(now batch.Time, p batch.Runnable) {
	r := f.launch(now, settled(now, p.Fork().(batch.Runnable)))
	for t := now; t != batch.Never; t = r.next() {
		r.advance(t, batch.NoJob)
	}
}

// answerRun answers an ask about a job that waits from a run of everybody. The end is
// the run's: who shares processors takes longer than its walltime.
func (f *Forecaster) answerRun(a *batch.Ask, out *batch.Estimate) {
	h := a.Job.Handle
	fill(a, out, f.began[h])
	end := batch.Never
	if f.began[h] != batch.Never {
		end = f.ends.over(h)
	}
	out.Ends = slices.Grow(out.Ends, len(a.Shapes))
	for range a.Shapes {
		out.Ends = append(out.Ends, end)
	}
}
