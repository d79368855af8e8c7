package backfill

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// Rule says who is first, and what becomes of a reservation.
type Rule uint8

// The rules.
const (
	EASY Rule = iota // by submission
	Anew             // BF-rm: by priority
	Kept             // BF-unrm: by priority, and a reservation is kept
)

// Planner plans by backfilling.
type Planner struct {
	rule       Rule
	anew       func() *heuristic.Collection
	heuristics *heuristic.Collection
	matrix     farm.Matrix

	// The reservation that is kept: whose it is, by order; 0 for none.
	promised int64
	machine  int32

	queue []entry
	ends  []end     // of those who run
	left  farm.Left // copies of licenses that are free now
	spare farm.Left // and at the time of the reservation, beside what it needs
}

// entry is a job that waits.
type entry struct {
	job      int32
	priority farm.Points
}

// New returns a planner; what makes the heuristics is not needed for EASY.
func New(rule Rule, heuristics func() *heuristic.Collection) *Planner {
	p := &Planner{rule: rule, anew: heuristics}
	if rule != EASY {
		p.heuristics = heuristics()
	}
	return p
}

// Preempts says no.
func (p *Planner) Preempts() bool { return false }

// InOrder says whether jobs go as they came.
func (p *Planner) InOrder() bool { return p.rule == EASY }

// Fork returns a planner that goes on as this one would.
func (p *Planner) Fork() roster.Planner {
	f := New(p.rule, p.anew)
	f.promised, f.machine = p.promised, p.machine
	return f
}

// Plan says who shall be on which machine.
func (p *Planner) Plan(s *farm.State, plan []int32) {
	p.begin(s, plan)
	p.line(s)
	first := 0
	for ; first < len(p.queue); first++ {
		i := p.queue[first].job
		if s.Check(&s.Jobs[i]) != nil {
			continue // it would wait for ever
		}
		if !p.start(s, i, plan) {
			break
		}
	}
	if first == len(p.queue) {
		p.promised = 0
		return
	}
	head := p.queue[first].job
	r := p.reserve(s, &s.Jobs[head], plan)
	for _, e := range p.queue[first+1:] {
		if !slices.Contains(plan, roster.Free) {
			break
		}
		p.backfill(s, e.job, plan, r)
	}
}

// begin puts those who run where they are.
func (p *Planner) begin(s *farm.State, plan []int32) {
	p.left, p.ends = p.left.All(s), p.ends[:0]
	for i := range s.Jobs {
		j := &s.Jobs[i]
		if !j.Fixed {
			continue
		}
		p.left.Take(s, j)
		if !s.Machines[j.Machine].Down {
			plan[j.Machine] = int32(i)
		}
		p.ends = append(p.ends, end{s.Now.Add(j.On(s.Machines[j.Machine].Score)), int32(i)})
	}
}

// line puts those who wait in their order.
func (p *Planner) line(s *farm.State) {
	if p.heuristics != nil {
		p.heuristics.Fill(s, &p.matrix)
	}
	p.queue = p.queue[:0]
	for i := range s.Jobs {
		if s.Jobs[i].Fixed {
			continue
		}
		e := entry{job: int32(i)}
		if p.heuristics != nil {
			e.priority = p.matrix.Row(i).Mean()
		}
		p.queue = append(p.queue, e)
	}
	first := func(e entry) bool {
		return p.rule == Kept && p.promised != 0 && s.Jobs[e.job].Order == p.promised
	}
	slices.SortFunc(p.queue, func(a, b entry) int {
		if first(a) != first(b) {
			if first(a) {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.job, b.job))
	})
}

// start puts a job on the best machine that is free, if there is one.
func (p *Planner) start(s *farm.State, i int32, plan []int32) bool {
	j := &s.Jobs[i]
	if !p.left.Enough(s, j) {
		return false
	}
	m := best(s, j, func(m int32) bool { return plan[m] == roster.Free })
	if m == farm.NoMachine {
		return false
	}
	p.put(s, i, m, plan)
	return true
}

// put has a job start on a machine.
func (p *Planner) put(s *farm.State, i, m int32, plan []int32) {
	plan[m] = i
	p.left.Take(s, &s.Jobs[i])
	p.ends = append(p.ends, end{s.Now.Add(s.Jobs[i].On(s.Machines[m].Score)), i})
}

// backfill puts a job on the best machine that is free where it does not put off the
// reservation.
func (p *Planner) backfill(s *farm.State, i int32, plan []int32, r reservation) {
	j := &s.Jobs[i]
	if !p.left.Enough(s, j) {
		return
	}
	aside := p.spare.Enough(s, j)
	ends := func(m int32) batch.Time { return s.Now.Add(j.On(s.Machines[m].Score)) }
	m := best(s, j, func(m int32) bool {
		return plan[m] == roster.Free && (ends(m) <= r.at || aside && m != r.machine)
	})
	if m == farm.NoMachine {
		return
	}
	if ends(m) > r.at {
		p.spare.Take(s, j)
	}
	p.put(s, i, m, plan)
}

// best returns the eligible machine of the highest score among those that will do.
func best(s *farm.State, j *farm.Job, will func(int32) bool) int32 {
	found := farm.NoMachine
	for m := range int32(len(s.Machines)) {
		if (found == farm.NoMachine || s.Machines[m].Score > s.Machines[found].Score) && will(m) && s.Eligible(j, m) {
			found = m
		}
	}
	return found
}
