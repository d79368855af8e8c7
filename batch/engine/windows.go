package engine

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// edge is an end of a reservation's window. At one instant windows close before
// others open, each in the order in which they were reserved.
type edge struct {
	at  batch.Time
	ev  batch.EventKind
	seq uint32
	job batch.Handle
}

func (a edge) compare(b edge) int {
	closes := func(x edge) int {
		if x.ev == batch.WindowClose {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(closes(a), closes(b)), cmp.Compare(a.seq, b.seq))
}

// reserveWindow foresees the opening and the closing of a reservation.
func (e *Engine) reserveWindow(spec *batch.Job) {
	e.seq++
	for _, x := range []edge{
		{spec.Window.Start, batch.WindowOpen, e.seq, spec.Handle},
		{spec.Window.End, batch.WindowClose, e.seq, spec.Handle},
	} {
		at, _ := slices.BinarySearchFunc(e.edges, x, edge.compare)
		e.edges = slices.Insert(e.edges, at, x)
	}
}

// dropWindow forgets a reservation that is cancelled.
func (e *Engine) dropWindow(h batch.Handle) {
	e.edges = slices.DeleteFunc(e.edges, func(x edge) bool { return x.job == h })
}

// turnWindows opens and closes the windows that are due. A closed reservation's
// handle is free.
func (e *Engine) turnWindows() {
	for len(e.edges) > 0 && e.edges[0].at <= e.now {
		x := e.edges[0]
		e.edges = slices.Delete(e.edges, 0, 1)
		e.event = batch.Event{Kind: x.ev, Job: x.job}
		e.policy.Apply(e.now, &e.event)
		if x.ev == batch.WindowClose {
			e.jobs[x.job] = job{}
		}
	}
}

// transfer returns what the caller says of a job's data.
func (e *Engine) transfer(spec *batch.Job, to []batch.NodeAllocation) batch.Duration {
	if e.Transfer == nil {
		return 0
	}
	return e.Transfer(spec, to)
}

// comeBack lets a job that has just got its places continue after its penalty, and reports
// Resumed then.
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

// hold keeps a job that has just got its places from progressing for a while, whatever it
// was held for before. It returns false if that is not needed.
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
