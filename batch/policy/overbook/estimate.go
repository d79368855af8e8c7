package overbook

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// Estimate answers from the plan. A slot for the whole estimate is a promise. An
// overbooked slot is kept with a probability, and the answer has the nominal start and
// end of each shape. A job with an agreement that cannot end in time gets Never.
func (p *Policy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	plan := p
	if p.stopping > 0 || !p.Settled(now, 0) {
		plan = p.Fork().(*Policy)
		plan.foresee(now)
	}
	for i := range asks {
		a := &asks[i]
		switch {
		case a.Job.Handle != batch.NoJob:
			plan.standing(now, a, &out[i])
		case a.Job.Window == nil && a.Job.Into == batch.NoJob && plan.differs(a):
			plan.offer(now, a, &out[i])
		default:
			plan.Policy.Estimate(now, asks[i:i+1], out[i:i+1])
		}
	}
	return nil
}

// differs reports whether the answer can differ from CBF's.
func (p *Policy) differs(a *batch.Ask) bool {
	if p.set.maxPoF == 0 {
		return false
	}
	t := p.termsOf(a.Job, batch.Hour)
	return t.may || t.long > t.limit
}

// offer answers an ask about a new job.
func (p *Policy) offer(now batch.Time, a *batch.Ask, out *batch.Estimate) {
	out.Kind, out.P = batch.Promised, 0
	starts := out.Grow(len(a.Shapes))
	ends := out.Ends
	likely := 1.0
	probable := false
	for k, s := range a.Shapes {
		j := job{spec: a.Job, terms: p.termsOf(a.Job, s.Walltime)}
		w := p.wish(now, &j, p.ChargeOf(s.Width, a.Job.Memory))
		w.from = max(w.from, a.From)
		at, ok := p.search(now, &w)
		if !ok {
			at.nominal = batch.Never
		}
		end := at.nominal.Add(s.Walltime)
		if ok && at.over {
			end = at.nominal.Add(w.short)
			probable = true
			likely = min(likely, at.p)
		}
		starts[k] = at.nominal
		ends = append(ends, end)
	}
	if probable {
		out.Kind, out.P, out.Ends = batch.Probable, likely, ends
	}
}

// standing answers an ask about a waiting job.
func (p *Policy) standing(now batch.Time, a *batch.Ask, out *batch.Estimate) {
	one := [1]batch.Ask{*a}
	var answer [1]batch.Estimate
	p.Policy.Estimate(now, one[:], answer[:])
	h := a.Job.Handle
	start := answer[0].Starts[0]
	starts := out.Grow(len(a.Shapes))
	out.Kind, out.P = batch.Promised, 0
	for i := range starts {
		starts[i] = start
	}
	if start == batch.Never || !p.known(h) || p.queueless(h) {
		return
	}
	j := &p.jobs[h]
	b, i := p.Queue.Locate(h)
	if !j.over || j.nominal >= start && b.Walltime[i] >= j.limit && start.Add(j.limit) <= p.wish(now, j, 0).due {
		return
	}
	out.Kind, out.P = batch.Probable, j.p
	start = max(now, min(start, j.nominal))
	for i := range starts {
		starts[i] = start
		out.Ends = append(out.Ends, start.Add(j.short))
	}
}
