package dynp

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// step is a self-tuning step: it plans with every policy, the active one first, and returns
// the index of the new active policy, which has a complete plan. The plan of the active policy
// may exist already.
func (p *Policy) step(now batch.Time, made bool) int {
	p.bounds(now)
	best := p.active
	var l *limit
	for k := range p.plans {
		i := p.turn(k)
		pl := &p.plans[i]
		if k > 0 || !made {
			p.arrange(i)
			var like *plan
			if k > 0 {
				like = &p.plans[p.turn(k-1)]
			}
			p.planner.make(now, pl, like, p.tasks, p.Profile, p.objective, l)
		}
		if !pl.whole() {
			continue
		}
		if k == 0 || pl.value.better(&p.plans[best].value) {
			best = i
		}
		if len(p.objective) == 1 {
			l = p.limit(&p.plans[best].value)
		}
	}
	found := p.best()
	p.counts.step(found, p.active)
	return p.decider.choose(p.active, found)
}

// turn returns the policy of the k-th turn in a step: the active policy and the first of the
// list swap their turns.
func (p *Policy) turn(k int) int {
	switch k {
	case 0:
		return p.active
	case p.active:
		return 0
	}
	return k
}

// bounds computes lower bounds of the tasks' summands of the metric.
func (p *Policy) bounds(now batch.Time) {
	p.all = wide{}
	if len(p.objective) > 1 {
		return
	}
	m := p.objective[0].metric
	for i := range p.tasks {
		t := &p.tasks[i]
		if t.best = (wide{}); t.first != batch.Never {
			t.best = m.of(now, t, t.first)
			p.all = m.with(p.all, t.best)
		}
	}
}

// limit returns the worst value that counts as equal to the given one.
func (p *Policy) limit(v *value) *limit {
	p.bound = limit{
		by: p.objective[0].metric, unplaced: v.unplaced, all: p.all,
		sum: v.sums[0].add(v.sums[0].part(p.config.equal, million)),
	}
	return &p.bound
}

// best returns the set of the best plans.
func (p *Policy) best() mask {
	if len(p.objective) > 1 {
		p.combine()
	}
	first := -1
	for i := range p.plans {
		if p.plans[i].whole() && (first < 0 || p.plans[i].value.better(&p.plans[first].value)) {
			first = i
		}
	}
	l, best := p.limit(&p.plans[first].value), mask(0)
	for i := range p.plans {
		v := &p.plans[i].value
		if p.plans[i].whole() && v.unplaced == l.unplaced && !l.sum.less(v.sums[0]) {
			best |= 1 << i
		}
	}
	return best
}

// better reports whether one value is better than another by the first metric.
func (v *value) better(w *value) bool {
	if v.unplaced != w.unplaced {
		return v.unplaced < w.unplaced
	}
	return v.sums[0].less(w.sums[0])
}

// combine merges several metrics into one sum: each as its percentage of the ratio to the
// least value of all plans that place as many jobs.
func (p *Policy) combine() {
	fewest := p.plans[0].value.unplaced
	for i := range p.plans {
		fewest = min(fewest, p.plans[i].value.unplaced)
	}
	p.sums = p.sums[:0]
	for i := range p.plans {
		p.sums = append(p.sums, wide{})
		for k, part := range p.objective {
			least := highest
			for j := range p.plans {
				if v := &p.plans[j].value; v.unplaced == fewest && v.sums[k].less(least) {
					least = v.sums[k]
				}
			}
			if least != (wide{}) {
				p.sums[i] = p.sums[i].add(p.plans[i].value.sums[k].ratio(least).times(part.percent))
			}
		}
	}
	for i := range p.plans {
		p.plans[i].value.sums[0] = p.sums[i]
	}
}

// decider chooses the active policy of a step among those with the best plan.
type decider struct {
	kind      deciding
	preferred int // index of a policy
}

type deciding uint8

const (
	simple deciding = iota
	advanced
	preferred
)

// choose returns the index of one of the best policies; best is not empty.
func (d decider) choose(active int, best mask) int {
	switch {
	case d.kind == preferred && best.has(d.preferred):
		return d.preferred
	case d.kind != simple && best.has(active):
		return active
	}
	return best.lowest()
}

// MaxPolicies is the largest number of policies to choose from.
const MaxPolicies = 8

// mask is a set of policies, by index.
type mask uint8

func (m mask) has(i int) bool { return m>>i&1 != 0 }

func (m mask) lowest() int { return bits.TrailingZeros8(uint8(m)) }
