package forecast

import "github.com/seed-9b8f70bb/drover/batch"

// eachShape runs the policy once for each shape, with the job in that shape. A run stops
// when its shape can no longer beat the best completion; start and end are then bounds
// that are not earlier.
func (f *Forecaster) eachShape(now batch.Time, p batch.Runnable, a *batch.Ask, out *batch.Estimate) {
	starts := out.Grow(len(a.Shapes))
	best := batch.Never
	for i, s := range a.Shapes {
		start, end := f.oneShape(now, p, a, s, best)
		starts[i] = start
		out.Ends = append(out.Ends, end)
		best = min(best, end)
	}
}

// oneShape returns the start and the end of one shape, or bounds with which it cannot
// complete before best.
func (f *Forecaster) oneShape(now batch.Time, p batch.Runnable, a *batch.Ask, s batch.Shape, best batch.Time) (start, end batch.Time) {
	r := f.launch(now, settled(now, p.Fork().(batch.Runnable)))
	spec := *a.Job
	spec.Shape = s
	spec.Handle = p.Unused()
	spec.EarliestStart = max(spec.EarliestStart, a.From)
	r.tell(now, batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: &spec})
	start = batch.Never
	for t := now; t != batch.Never; t = r.next() {
		if start == batch.Never && t.Add(s.Walltime) > best {
			return t, t.Add(s.Walltime)
		}
		if start != batch.Never {
			if due := r.ends.due(spec.Handle); due > 0 && due <= t {
				return start, due
			}
		}
		if r.advance(t, spec.Handle) {
			start = t
		}
	}
	return start, batch.Never
}
