package overbook

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// enter moves a job that CBF has queued with its whole estimate to an overbooked slot, if
// there is an earlier one.
func (p *Policy) enter(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	j.nominal, j.over, j.p = batch.Never, false, 1
	if !j.may && j.long == j.limit || p.queueless(h) {
		return
	}
	b, i := p.Queue.Locate(h)
	old, charge := b.Start[i], b.Charge[i]
	if old == batch.Never {
		return
	}
	w := p.wish(now, j, charge)
	if old == w.from && j.long == j.limit && old.Add(j.limit) <= w.due {
		return // it starts at once with its whole estimate
	}
	length := b.Walltime[i]
	p.Profile.Release(old, old.Add(length), charge)
	at, ok := p.search(now, &w)
	p.Profile.Reserve(old, old.Add(length), charge)
	if !ok || at.start == old && at.length == length && !at.over {
		return
	}
	if at.start != old || at.length != length {
		p.Rebook(h, at.start, at.length)
	}
	j.terms, j.over, j.p = w.terms, at.over, at.p
	if !at.over {
		return
	}
	p.counts.Overbooked++
	if at.nominal < at.start {
		p.counts.Counting++
		j.nominal = at.nominal
		p.pin(h, at.start)
	}
	if at.length < j.long {
		p.waiting = append(p.waiting, h)
	}
}

// queueless reports whether CBF keeps a job outside its queue.
func (p *Policy) queueless(h batch.Handle) bool {
	s := p.Job(h).State
	return s != counted.Waiting && s != counted.Incoming
}

// wish returns the search parameters of a job.
func (p *Policy) wish(now batch.Time, j *job, charge int32) wish {
	due := batch.Never
	if j.spec.Agreed && j.spec.Deadline > 0 {
		due = j.spec.Deadline
	}
	return wish{spec: j.spec, terms: j.terms, charge: charge, from: max(now, j.spec.EarliestStart), due: due}
}

// pin keeps CBF from moving a job with a booking that is enough only together with the time that
// it counts on.
func (p *Policy) pin(h batch.Handle, start batch.Time) {
	spec := *p.jobs[h].spec
	spec.EarliestStart = start
	p.Job(h).Spec = &spec
}

// leave drops the overbooking state of a queued job.
func (p *Policy) leave(h batch.Handle) {
	if !p.known(h) {
		return
	}
	j := &p.jobs[h]
	if j.nominal != batch.Never {
		j.nominal = batch.Never
		p.Job(h).Spec = j.spec
	}
	if i := slices.Index(p.waiting, h); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
}

func (p *Policy) uncut(h batch.Handle) {
	if i := slices.Index(p.cut, h); i >= 0 {
		p.cut = slices.Delete(p.cut, i, i+1)
	}
}
