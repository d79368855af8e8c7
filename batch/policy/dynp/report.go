package dynp

import (
	"math/bits"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// MaxSwitches is the number of recent switches that a policy keeps.
const MaxSwitches = 100

// Tuning reports on the self-tuning.
type Tuning struct {
	Active   string
	Metrics  []string // of the objective, in the setting's order
	Steps    int      // self-tuning steps
	Switches int      // steps that changed the active policy
	Policies []Count
	Cases    []Case   // steps by best policies and active policy
	Last     []Switch // the last MaxSwitches, oldest first
}

// Count counts the activity of one policy.
type Count struct {
	Policy   string
	Switches int // to it
	Started  int // jobs, while it was active
}

// Case counts the steps in which, with one policy active, the given policies were best, in
// the order of the list.
type Case struct {
	Active string
	Best   []string
	Steps  int
}

// Switch is a step that changed the active policy.
type Switch struct {
	At       batch.Time
	From, To string
	Waiting  int // planned jobs
	Values   []Value
}

// Value is the value of one policy's plan. Times are in seconds.
type Value struct {
	Policy string
	// Metrics has a value for each metric of the setting. It is empty if Worse is set:
	// the plan was abandoned because it was worse than the best.
	Metrics []float64
	Worse   bool
	// Unplaced is the number of jobs without a slot in the plan.
	Unplaced int
}

// counts are the counters since the first pass.
type counts struct {
	steps    int
	cases    [][1 << MaxPolicies]int32 // by active policy and mask of the best
	switches []int                     // by policy
	started  []int
	last     []Switch // a ring
	next     int      // its oldest, when it is full
}

func newCounts(policies int) counts {
	return counts{
		cases: make([][1 << MaxPolicies]int32, policies), switches: make([]int, policies),
		started: make([]int, policies),
	}
}

func (c *counts) clone() counts {
	d := *c
	d.cases, d.switches, d.started, d.last = slices.Clone(c.cases), slices.Clone(c.switches), slices.Clone(c.started),
		slices.Clone(c.last)
	return d
}

func (c *counts) step(best mask, active int) {
	c.steps++
	c.cases[active][best]++
}

func (c *counts) note(s Switch) {
	if len(c.last) < MaxSwitches {
		c.last = append(c.last, s)
		return
	}
	c.last[c.next] = s
	c.next = (c.next + 1) % MaxSwitches
}

// report records a step that is about to switch.
func (p *Policy) report(now batch.Time, to int) Switch {
	s := Switch{At: now, From: p.policies[p.active], To: p.policies[to], Waiting: len(p.tasks)}
	for i := range p.plans {
		pl := &p.plans[i]
		v := Value{Policy: p.policies[i], Worse: !pl.whole(), Unplaced: pl.value.unplaced}
		if pl.whole() {
			for _, part := range p.objective {
				v.Metrics = append(v.Metrics, p.measure(now, pl, part.metric))
			}
		}
		s.Values = append(s.Values, v)
	}
	return s
}

// measure returns a metric of a whole plan in display units.
func (p *Policy) measure(now batch.Time, pl *plan, m *metric) float64 {
	var sum, weight wide
	for i := range p.tasks {
		t := &p.tasks[i]
		if pl.starts[i] == batch.Never {
			continue
		}
		sum = m.with(sum, m.of(now, t, pl.starts[i]))
		weight = weight.add(m.weight(t))
	}
	switch {
	case weight == (wide{}):
		return 0
	case m.peak:
		return sum.float() / m.unit
	}
	return sum.float() / weight.float() / m.unit
}

// Steps returns the number of self-tuning steps.
func (p *Policy) Steps() int { return p.counts.steps }

// Tuning returns the report on the self-tuning.
func (p *Policy) Tuning() Tuning {
	t := Tuning{Active: p.policies[p.active], Steps: p.counts.steps}
	for _, part := range p.objective {
		t.Metrics = append(t.Metrics, part.name)
	}
	for i, n := range p.policies {
		t.Switches += p.counts.switches[i]
		t.Policies = append(t.Policies, Count{Policy: n, Switches: p.counts.switches[i], Started: p.counts.started[i]})
	}
	for active := range p.counts.cases {
		for m, n := range p.counts.cases[active] {
			if n > 0 {
				t.Cases = append(t.Cases, Case{Active: p.policies[active], Best: p.names(mask(m)), Steps: int(n)})
			}
		}
	}
	t.Last = append(t.Last, p.counts.last[p.counts.next:]...)
	t.Last = append(t.Last, p.counts.last[:p.counts.next]...)
	return t
}

func (p *Policy) names(m mask) []string {
	names := make([]string, 0, bits.OnesCount8(uint8(m)))
	for i, n := range p.policies {
		if m.has(i) {
			names = append(names, n)
		}
	}
	return names
}
