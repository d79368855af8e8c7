package edf

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/convergent/roster"
)

// Planner plans by earliest deadline.
type Planner struct {
	jobs     []int32 // by deadline
	machines []int32 // by falling score
	left     []int64 // copies of licences
}

// New returns a planner.
func New() *Planner { return &Planner{} }

// Preempts says yes.
func (p *Planner) Preempts() bool { return true }

// Fork returns a planner: nothing is kept from plan to plan.
func (p *Planner) Fork() roster.Planner { return New() }

// Plan says who shall be on which machine.
func (p *Planner) Plan(s *farm.State, plan []int32) {
	p.order(s)
	p.left = p.left[:0]
	for i := range s.Licences {
		p.left = append(p.left, int64(s.Licences[i].Copies))
	}
	for i := range s.Jobs {
		if s.Jobs[i].Fixed {
			p.take(s, &s.Jobs[i])
		}
	}
	free := len(plan)
	for _, i := range p.jobs {
		if free == 0 {
			return
		}
		j := &s.Jobs[i]
		if j.Fixed || !p.fits(s, j) {
			continue
		}
		if m := p.best(s, j, plan); m != farm.NoMachine {
			plan[m] = i
			free--
			p.take(s, j)
		}
	}
}

// order sorts jobs and machines.
func (p *Planner) order(s *farm.State) {
	p.jobs, p.machines = p.jobs[:0], p.machines[:0]
	for i := range s.Jobs {
		p.jobs = append(p.jobs, int32(i))
	}
	deadline := func(i int32) batch.Time {
		if d := s.Jobs[i].Deadline; d != 0 {
			return d
		}
		return batch.Never
	}
	slices.SortFunc(p.jobs, func(a, b int32) int {
		return cmp.Or(cmp.Compare(deadline(a), deadline(b)), cmp.Compare(a, b))
	})
	for m := range s.Machines {
		p.machines = append(p.machines, int32(m))
	}
	slices.SortStableFunc(p.machines, func(a, b int32) int {
		return cmp.Compare(s.Machines[b].Score, s.Machines[a].Score)
	})
}

// best returns the best machine that is left for a job: of equal ones that where it is.
func (p *Planner) best(s *farm.State, j *farm.Job, plan []int32) int32 {
	found := farm.NoMachine
	for _, m := range p.machines {
		if found != farm.NoMachine && s.Machines[m].Score < s.Machines[found].Score {
			break
		}
		if plan[m] == roster.Free && (found == farm.NoMachine || m == j.Machine) && s.Eligible(j, m) {
			found = m
		}
	}
	return found
}

func (p *Planner) fits(s *farm.State, j *farm.Job) bool {
	for _, n := range j.Licences {
		if !s.Licences[n.Licence].Bound && p.left[n.Licence] < int64(n.Copies) {
			return false
		}
	}
	return true
}

func (p *Planner) take(s *farm.State, j *farm.Job) {
	for _, n := range j.Licences {
		if !s.Licences[n.Licence].Bound {
			p.left[n.Licence] -= int64(n.Copies)
		}
	}
}
