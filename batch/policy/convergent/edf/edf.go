package edf

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// Planner plans by earliest deadline.
type Planner struct {
	how      How
	s        *farm.State
	plan     []int32
	jobs     []int32 // by deadline
	machines []int32 // by descending score
	at       []int32 // by job: its machine in the plan
	left     farm.Left
	lifted   []lifted
}

// lifted is a job that may be preempted, and its machine.
type lifted struct{ job, machine int32 }

// How selects variants that the paper does not have, or may have meant.
type How struct {
	ReplanAll bool // all jobs choose their machines at each event, also running ones
	Order     Order
}

// Order is the order of jobs.
type Order uint8

// The orders.
const (
	Earliest Order = iota
	Queued         // waiting jobs by descending deadline; new jobs take machines from later deadlines
	Latest         // all jobs by descending deadline
)

// Orders are their names.
var Orders = []string{"earliest", "queued", "latest"}

// New returns a planner.
func New(how How) *Planner { return &Planner{how: how} }

// Preempts returns true.
func (p *Planner) Preempts() bool { return true }

// Fork returns a copy: a planner has no state between plans.
func (p *Planner) Fork() roster.Planner { return New(p.how) }

// Plan assigns jobs to machines.
func (p *Planner) Plan(s *farm.State, plan []int32) {
	p.s, p.plan = s, plan
	p.order()
	p.left, p.at = p.left.All(s), p.at[:0]
	for i := range s.Jobs {
		p.at = append(p.at, farm.NoMachine)
		if s.Jobs[i].Fixed {
			p.left.Take(s, &s.Jobs[i])
		}
	}
	if !p.how.ReplanAll {
		p.stay()
	}
	for k, i := range p.jobs {
		j := &s.Jobs[i]
		if j.Fixed || p.at[i] != farm.NoMachine || p.start(i) || p.how.ReplanAll || p.how.Order == Queued {
			continue
		}
		p.preempt(i, k)
	}
	if p.how.Order == Queued {
		p.newest()
	}
	p.s, p.plan = nil, nil
}

// newest lets new jobs take machines from jobs of later deadlines, the earliest first.
func (p *Planner) newest() {
	slices.Reverse(p.jobs)
	for k, i := range p.jobs {
		if j := &p.s.Jobs[i]; !j.Fixed && p.at[i] == farm.NoMachine && j.Submit == p.s.Now {
			p.preempt(i, k)
		}
	}
}

// stay keeps all jobs where the last plan had them.
func (p *Planner) stay() {
	for i := range p.s.Jobs {
		j := &p.s.Jobs[i]
		if m := j.Last; m != farm.NoMachine && !j.Fixed && p.plan[m] == roster.Free && p.s.Eligible(j, m) &&
			p.left.Enough(p.s, j) {
			p.put(int32(i), m)
		}
	}
}

// start puts a job on the best free machine.
func (p *Planner) start(i int32) bool {
	if !p.left.Enough(p.s, &p.s.Jobs[i]) {
		return false
	}
	m := p.best(&p.s.Jobs[i])
	if m == farm.NoMachine {
		return false
	}
	p.put(i, m)
	return true
}

// preempt removes jobs of later deadlines from their machines, the latest first, until
// there are a machine and licenses for this job, and puts back those that were not needed.
func (p *Planner) preempt(i int32, place int) {
	p.lifted = p.lifted[:0]
	for k := len(p.jobs) - 1; k > place; k-- {
		other := p.jobs[k]
		m := p.at[other]
		if m == farm.NoMachine || p.deadline(other) == p.deadline(i) || !p.inTheWay(i, other, m) {
			continue
		}
		p.lift(other, m)
		if p.start(i) {
			break
		}
	}
	for k := len(p.lifted) - 1; k >= 0; k-- {
		l := p.lifted[k]
		if p.plan[l.machine] == roster.Free && p.left.Enough(p.s, &p.s.Jobs[l.job]) {
			p.put(l.job, l.machine)
		}
	}
}

// inTheWay reports whether a job may hold what another one needs: a machine, or licenses.
func (p *Planner) inTheWay(i, other, machine int32) bool {
	if p.s.Eligible(&p.s.Jobs[i], machine) {
		return true
	}
	for _, n := range p.s.Jobs[i].Licenses {
		for _, o := range p.s.Jobs[other].Licenses {
			if n.License == o.License && !p.s.Licenses[n.License].Bound {
				return true
			}
		}
	}
	return false
}

func (p *Planner) lift(i, machine int32) {
	p.plan[machine], p.at[i] = roster.Free, farm.NoMachine
	p.left.Give(p.s, &p.s.Jobs[i])
	p.lifted = append(p.lifted, lifted{i, machine})
}

func (p *Planner) put(i, machine int32) {
	p.plan[machine], p.at[i] = i, machine
	p.left.Take(p.s, &p.s.Jobs[i])
}

// order sorts jobs and machines.
func (p *Planner) order() {
	p.jobs, p.machines = p.jobs[:0], p.machines[:0]
	for i := range p.s.Jobs {
		p.jobs = append(p.jobs, int32(i))
	}
	slices.SortFunc(p.jobs, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.deadline(a), p.deadline(b)), cmp.Compare(a, b))
	})
	if p.how.Order != Earliest {
		slices.Reverse(p.jobs)
	}
	for m := range p.s.Machines {
		p.machines = append(p.machines, int32(m))
	}
	slices.SortStableFunc(p.machines, func(a, b int32) int {
		return cmp.Compare(p.s.Machines[b].Score, p.s.Machines[a].Score)
	})
}

// deadline returns a job's deadline, Never for none.
func (p *Planner) deadline(i int32) batch.Time {
	if d := p.s.Jobs[i].Deadline; d != 0 {
		return d
	}
	return batch.Never
}

// best returns the best free machine for a job; of equal ones, the one where it is.
func (p *Planner) best(j *farm.Job) int32 {
	found := farm.NoMachine
	for _, m := range p.machines {
		if found != farm.NoMachine && p.s.Machines[m].Score < p.s.Machines[found].Score {
			break
		}
		if p.plan[m] == roster.Free && (found == farm.NoMachine || m == j.Machine) && p.s.Eligible(j, m) {
			found = m
		}
	}
	return found
}
