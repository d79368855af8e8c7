package engine

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// transfer returns what the caller says of a job's data.
func (e *Engine) transfer(spec *batch.Job, to []batch.NodeAllocation) batch.Duration {
	if e.Transfer == nil {
		return 0
	}
	return e.Transfer(spec, to)
}

// comeBack has a job that has just got its places go on when it has paid for it, and
// tells the policy then.
func (e *Engine) comeBack(h batch.Handle, price batch.Duration) {
	if !e.hold(h, price) {
		e.feedback = append(e.feedback, batch.Event{Kind: batch.Resumed, Job: h})
		return
	}
	j := &e.jobs[h]
	j.back = j.seq
	at := len(e.returns)
	for at > 0 && e.returns[at-1].at > j.since {
		at--
	}
	e.returns = slices.Insert(e.returns, at, end{j.since, j.back, h})
}

// hold has a job that has just got its places do nothing there for a while, whatever it
// was held for before; false if it need not.
func (e *Engine) hold(h batch.Handle, d batch.Duration) bool {
	j := &e.jobs[h]
	if j.yield == 0 || d == 0 && j.since <= e.now {
		return false
	}
	e.live--
	j.since, j.back = e.now.Add(d), 0
	e.foresee(h)
	return d > 0
}
