package dynp

import (
	"math/bits"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// MaxSwitches is how many of the last switches a policy remembers.
const MaxSwitches = 100

// Tuning is what a policy has to tell about its self-tuning.
type Tuning struct {
	Active   string
	Metrics  []string // by which plans are compared, in the setting's order
	Steps    int      // self-tuning steps
	Switches int      // in which another policy became active
	Policies []Count
	Cases    []Case   // what was found in steps, by which policies are best and which was active
	Last     []Switch // the last MaxSwitches, oldest first
}

// Count is what a policy has done.
type Count struct {
	Policy   string
	Switches int // to it
	Started  int // jobs, while it was active
}

// Case is how often, when a policy was active, these were found to be the best, in
// the order of the list.
type Case struct {
	Active string
	Best   []string
	Steps  int
}

// Switch is a step that made another policy active.
type Switch struct {
	At       batch.Time
	From, To string
	Waiting  int // jobs that were planned
	Values   []Value
}

// Value is what a policy's plan was worth. Times are in seconds.
type Value struct {
	Policy string
	// Metrics has a figure for each metric of the setting, with whole percents
	// weighed. If Worse is set the plan was given up, and has none: it was worse
	// than the best.
	Metrics []float64
	Worse   bool
	// Unplaced is how many jobs have no place in the plan.
	Unplaced int
}

// counts is what is counted from the first pass on.
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
		cases: make([][1 << MaxPolicies]int32, policies), switches: make([]int, policies), started: make([]int, policies),
	}
}

func (c *counts) clone() counts {
	d := *c
	d.cases, d.switches, d.started, d.last = slices.Clone(c.cases), slices.Clone(c.switches), slices.Clone(c.started), slices.Clone(c.last)
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

// report tells of a step that is about to switch.
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

// measure returns a metric of a whole plan as people read it.
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

// Steps returns how many self-tuning steps there were.
func (p *Policy) Steps() int { return p.counts.steps }

// Tuning tells how the self-tuning goes.
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
