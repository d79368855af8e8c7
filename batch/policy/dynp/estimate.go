package dynp

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// inquiry holds the shapes of asks by their position in the order: scratch memory.
type inquiry struct {
	items     []item
	order     plan
	free      *profile.Profile
	sweep     profile.Sweep
	charges   []int32
	walltimes []batch.Duration
}

// item is a range of shapes of an ask that come behind the same number of tasks.
type item struct {
	ask, lo, hi int32
	behind      int32
}

// Estimate answers from the plan of the active policy as if only this job arrived. The
// plan can be recomputed at any event, also in another order.
func (p *Policy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	plan := p
	if p.changed || p.Changed || p.Wake() <= now || p.Overdue(now) != 0 {
		plan = p.Fork().(*Policy)
		plan.Decide(now, &batch.Decisions{})
	}
	q := &p.inquiry
	q.items = q.items[:0]
	plan.gather(now)
	plan.arrangeFor(&q.order)
	for i := range asks {
		a, e := &asks[i], &out[i]
		e.Kind, e.P = batch.Planned, 0
		starts := e.Grow(len(a.Shapes))
		for k := range starts {
			starts[k] = batch.Never
		}
		switch {
		case plan.AnswerInside(now, a, e):
		case plan.Fixed(a): // planned jobs can be delayed for it
			plan.AnswerBeside(now, a, plan.Profile, e)
		case a.Job.Handle != batch.NoJob:
			plan.standing(now, a, starts)
		default:
			plan.inquire(q, int32(i), a)
		}
	}
	slices.SortFunc(q.items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.behind, b.behind), cmp.Compare(a.ask, b.ask), cmp.Compare(a.lo, b.lo))
	})
	plan.answer(now, q, asks, out)
	return nil
}

// arrangeFor writes the order of the active policy.
func (p *Policy) arrangeFor(pl *plan) {
	p.arrange(p.active)
	pl.order = append(pl.order[:0], p.plans[p.active].order...)
}

// standing answers an ask about a waiting job. A job that only lacks its confirmation can
// start now.
func (p *Policy) standing(now batch.Time, a *batch.Ask, starts []batch.Time) {
	if !p.Waits(a.Job.Handle) {
		return
	}
	for k := range starts {
		starts[k] = max(now, p.starts[a.Job.Handle])
	}
}

// inquire records the shapes of an ask with their positions in the order.
func (p *Policy) inquire(q *inquiry, ask int32, a *batch.Ask) {
	o := p.orders[p.active]
	for k := range a.Shapes {
		behind := int32(len(q.order.order))
		if o != nil {
			s := batch.Shape{Width: p.ChargeOf(a.Shapes[k].Width, a.Job.Memory), Walltime: a.Shapes[k].Walltime}
			at, _ := slices.BinarySearchFunc(q.order.order, s, func(i int32, s batch.Shape) int {
				if o(p.tasks[i].shape, s) <= 0 { // equal ones came before
					return -1
				}
				return 1
			})
			behind = int32(at)
		}
		if n := len(q.items) - 1; n >= 0 && q.items[n].ask == ask && q.items[n].behind == behind {
			q.items[n].hi++
			continue
		}
		q.items = append(q.items, item{ask, int32(k), int32(k) + 1, behind})
	}
}

// answer walks the plan in its order and finds the starts of the items at their
// positions.
func (p *Policy) answer(now batch.Time, q *inquiry, asks []batch.Ask, out []batch.Estimate) {
	if len(q.items) == 0 {
		return
	}
	if q.free == nil {
		q.free = p.Profile.Clone()
	} else {
		q.free.CopyFrom(p.Profile)
	}
	placed := int32(0)
	for _, it := range q.items {
		for ; placed < it.behind; placed++ {
			t := &p.tasks[q.order.order[placed]]
			if start := p.starts[t.job]; start != batch.Never && (start > now || !t.incoming) {
				q.free.Reserve(start, start.Add(t.shape.Walltime), t.shape.Width)
			}
		}
		a := &asks[it.ask]
		q.charges, q.walltimes = q.charges[:0], q.walltimes[:0]
		for _, s := range a.Shapes[it.lo:it.hi] {
			q.charges = append(q.charges, p.ChargeOf(s.Width, a.Job.Memory))
			q.walltimes = append(q.walltimes, s.Walltime)
		}
		q.sweep.Starts(q.free, max(now, a.From, a.Job.EarliestStart), q.charges, q.walltimes,
			out[it.ask].Starts[it.lo:it.hi])
	}
}
