package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// began holds when jobs start in a run, or resume for the first time, for asks about
// waiting and paused jobs.
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

// runOut runs a policy forward until no event is left.
func (f *Forecaster) runOut(now batch.Time, p batch.Runnable) {
	r := f.launch(now, settled(now, p.Fork().(batch.Runnable)))
	for t := now; t != batch.Never; t = r.next() {
		r.advance(t, batch.NoJob)
	}
}

// answerRun answers an ask about a waiting job from a run of all jobs. The end is the
// run's, because a job that shares processors takes longer than its walltime.
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
