package backfill

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// Rule is the order of jobs and the treatment of reservations.
type Rule uint8

// The rules.
const (
	EASY    Rule = iota // by submission
	Renewed             // BF-rm: by priority, a new reservation at each event
	Kept                // BF-unrm: by priority, reservations are kept
)

// Planner plans by backfilling.
type Planner struct {
	rule       Rule
	collect    func() *heuristic.Collection
	heuristics *heuristic.Collection
	matrix     farm.Matrix

	// The kept reservation: the order of its job; 0 for none.
	promised int64
	machine  int32

	queue []entry
	ends  []end     // of running jobs
	left  farm.Left // license copies that are free now
	spare farm.Left // license copies beside the reservation at its start
}

// entry is a waiting job.
type entry struct {
	job      int32
	priority farm.Points
}

// New returns a planner. EASY does not use the heuristics.
func New(rule Rule, heuristics func() *heuristic.Collection) *Planner {
	p := &Planner{rule: rule, collect: heuristics}
	if rule != EASY {
		p.heuristics = heuristics()
	}
	return p
}

// Preempts returns false.
func (p *Planner) Preempts() bool { return false }

// InOrder reports whether jobs go in order of submission.
func (p *Planner) InOrder() bool { return p.rule == EASY }

// Fork returns an independent copy.
func (p *Planner) Fork() roster.Planner {
	f := New(p.rule, p.collect)
	f.promised, f.machine = p.promised, p.machine
	return f
}

// Plan assigns jobs to machines.
func (p *Planner) Plan(s *farm.State, plan []int32) {
	p.begin(s, plan)
	p.line(s)
	first := 0
	for ; first < len(p.queue); first++ {
		i := p.queue[first].job
		if s.Check(&s.Jobs[i]) != nil {
			continue // it can never start
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

// begin keeps running jobs on their machines.
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

// line sorts the waiting jobs.
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

// start puts a job on the best free machine, if there is one.
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

// put starts a job on a machine.
func (p *Planner) put(s *farm.State, i, m int32, plan []int32) {
	plan[m] = i
	p.left.Take(s, &s.Jobs[i])
	p.ends = append(p.ends, end{s.Now.Add(s.Jobs[i].On(s.Machines[m].Score)), i})
}

// backfill puts a job on the best free machine where it does not delay the reservation.
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

// best returns the eligible machine of the highest score for which ok holds.
func best(s *farm.State, j *farm.Job, will func(int32) bool) int32 {
	found := farm.NoMachine
	for m := range int32(len(s.Machines)) {
		if (found == farm.NoMachine || s.Machines[m].Score > s.Machines[found].Score) && will(m) && s.Eligible(j, m) {
			found = m
		}
	}
	return found
}
