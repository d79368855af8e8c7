package easy

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/queue"
)

// A guarded pass runs beside reservations and agreed jobs, so free capacity can
// decrease with time. It differs in three ways: a job must fit until its end, the
// head's reservation is a slot of its whole walltime, and agreed jobs start early, in
// order with the others, where they can.

// guardedPass examines the whole queue and restarts whenever an agreed job starts early:
// the slot that it leaves may let an earlier job start, which goes before later ones.
func (p *Policy) guardedPass(now batch.Time, out *batch.Decisions) {
	p.StartDue(now, out)
	for p.round(now, out) {
	}
}

// round runs one pass and reports whether to restart.
func (p *Policy) round(now batch.Time, out *batch.Decisions) (again bool) {
	b, i, k, again := p.heads(now, out)
	p.Changed, p.head = b == nil, batch.NoJob
	if again || b == nil {
		return again
	}
	p.head, p.shadow = b.Job[i], p.Profile.Fit(now, b.Walltime[i], b.Charge[i])
	give := p.holdHead(now)
	again = p.backfillBeside(now, b, i+1, k, out)
	if p.spare = 0; p.shadow != batch.Never { // used once the last slot is a running job
		p.spare = p.Profile.Free(p.shadow)
	}
	give()
	return again
}

// heads starts jobs from the beginning of the order while they fit. It returns the
// first that does not, and the number of agreed jobs ahead of it.
func (p *Policy) heads(now batch.Time, out *batch.Decisions) (b *queue.Block, i, k int, again bool) {
	for {
		b, i = p.FirstReady()
		if k, again = p.startEarly(now, k, b, i, out); again || b == nil || !p.Fits(now, b.Charge[i], b.Walltime[i]) {
			return b, i, k, again
		}
		p.Launch(now, p.Queue.RemoveAt(b, i).Job, out)
	}
}

// startEarly starts the first agreed job that can start, from the k-th up to the job at
// position i of block b. It returns the number of agreed jobs before that position.
func (p *Policy) startEarly(
	now batch.Time, k int, b *queue.Block, i int, out *batch.Decisions,
) (next int, started bool) {
	for k < p.Agreed() && (b == nil || p.Before(p.Agreement(k), b.Job[i])) {
		if p.StartEarly(now, k, out) {
			return k, true
		}
		k++
	}
	return k, false
}

// holdHead books the head's reservation and returns the function that removes it. The
// reservation is in the profile only while other jobs search for slots.
func (p *Policy) holdHead(now batch.Time) (give func()) {
	if p.head == batch.NoJob || p.shadow == batch.Never || p.Job(p.head).State != counted.Waiting {
		return func() {}
	}
	j := p.Job(p.head)
	from := max(p.shadow, now)
	to, charge := from.Add(j.Walltime), j.Charge
	p.Profile.Reserve(from, to, charge)
	return func() { p.Profile.Release(from, to, charge) }
}

// backfillBeside examines the queue from position i of block b on and the agreed jobs
// from the k-th on, and reports whether to restart the pass.
func (p *Policy) backfillBeside(now batch.Time, b *queue.Block, i, k int, out *batch.Decisions) (again bool) {
	p.levels = p.Profile.Levels(now, p.levels[:0])
	for ; b != nil && p.Free > 0; b, i = p.Queue.Next(b), 0 {
		if b.Least > p.Free {
			continue
		}
		for i < b.N {
			if k, again = p.startEarly(now, k, b, i, out); again {
				return true
			}
			if !p.fitsBeside(now, b, i) || p.Job(b.Job[i]).State != counted.Waiting {
				i++
				continue
			}
			p.startBeside(now, b, i, out)
		}
	}
	_, again = p.startEarly(now, k, nil, 0, out)
	return again
}

func (p *Policy) fitsBeside(now batch.Time, b *queue.Block, i int) bool {
	charge, end := b.Charge[i], now.Add(b.Walltime[i])
	if charge > p.Free {
		return false
	}
	for _, l := range p.levels {
		if charge > l.Free || end <= l.Until {
			return charge <= l.Free
		}
	}
	return false
}

func (p *Policy) startBeside(now batch.Time, b *queue.Block, i int, out *batch.Decisions) {
	p.Launch(now, p.Queue.RemoveAt(b, i).Job, out)
	p.levels = p.Profile.Levels(now, p.levels[:0])
}

// guardedArrivals examines the jobs that arrived since the last pass.
func (p *Policy) guardedArrivals(now batch.Time, out *batch.Decisions) {
	if len(p.fresh) == 0 {
		return
	}
	give := p.holdHead(now)
	p.levels = p.Profile.Levels(now, p.levels[:0])
	for h := range p.arrived {
		if b, i := p.Queue.Locate(h); p.fitsBeside(now, b, i) {
			p.startBeside(now, b, i, out)
		}
	}
	give()
}
