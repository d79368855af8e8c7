package convergent

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/matching"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// planner plans by convergent scheduling. Between plans it keeps matrix rows, license clusters,
// and the prices of machines.
type planner struct {
	set        settings
	heuristics *heuristic.Collection
	matrix     farm.Matrix
	prematch   prematch
	solver     matching.Solver

	rows   []matching.Row
	open   []int32 // machines that no running job keeps
	cells  []int64
	narrow []int32 // the plan of the open machines
}

func newPlanner(set settings) *planner {
	return &planner{set: set, heuristics: set.heuristics()}
}

// Preempts reports whether the algorithm preempts running jobs.
func (p *planner) Preempts() bool { return p.set.algorithm.Preempts() }

// Fork returns an independent copy. It does not copy rows, because recomputed rows are the
// same.
func (p *planner) Fork() roster.Planner {
	f := newPlanner(p.set)
	f.prematch = p.prematch.fork()
	f.solver = *p.solver.Fork()
	return f
}

// Plan assigns jobs to machines.
func (p *planner) Plan(s *farm.State, plan []int32) {
	p.heuristics.Fill(s, &p.matrix)
	p.prematch.clear(s, &p.matrix)
	p.match(s, plan)
	if p.set.refill && p.prematch.readmit(s, &p.matrix, plan) {
		p.match(s, plan)
	}
}

// match fills the plan from the matrix.
func (p *planner) match(s *farm.State, plan []int32) {
	if p.Preempts() {
		p.matchAll(s, plan)
	} else {
		p.matchOpen(s, plan)
	}
}

// matchAll matches all jobs and all machines.
func (p *planner) matchAll(s *farm.State, plan []int32) {
	p.rows = slices.Grow(p.rows[:0], len(s.Jobs))[:len(s.Jobs)]
	for i := range s.Jobs {
		p.rows[i] = matching.Row{}
		if r := p.matrix.Row(i); !r.Cleared && len(r.Columns) > 0 {
			p.rows[i] = matching.Row{Base: r.Base, Cells: r.Cells}
		}
	}
	for m := range plan {
		plan[m] = roster.Free
	}
	for i := range s.Jobs {
		if m := s.Jobs[i].Last; m != farm.NoMachine {
			plan[m] = int32(i)
		}
	}
	p.solve(plan)
	clear(p.rows)
}

// matchOpen leaves running jobs on their machines, and matches the other jobs and machines.
func (p *planner) matchOpen(s *farm.State, plan []int32) {
	for m := range plan {
		plan[m] = roster.Free
	}
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Fixed {
			plan[j.Machine] = int32(i)
		}
	}
	p.open = p.open[:0]
	for m := range plan {
		if plan[m] == roster.Free && !s.Machines[m].Down {
			p.open = append(p.open, int32(m))
		} else if s.Machines[m].Down {
			plan[m] = roster.Free
		}
	}
	p.narrow = p.narrow[:0]
	for range p.open {
		p.narrow = append(p.narrow, roster.Free)
	}
	p.narrowRows(s)
	p.solver.Forget() // the open machines differ from call to call
	p.solve(p.narrow)
	for k, i := range p.narrow {
		if i != roster.Free {
			plan[p.open[k]] = i
		}
	}
	clear(p.rows)
}

// narrowRows makes rows with the entries of the open machines.
func (p *planner) narrowRows(s *farm.State) {
	n := len(p.open)
	p.rows = slices.Grow(p.rows[:0], len(s.Jobs))[:len(s.Jobs)]
	p.cells = slices.Grow(p.cells[:0], n*len(s.Jobs))[:n*len(s.Jobs)]
	for i := range s.Jobs {
		p.rows[i] = matching.Row{}
		r := p.matrix.Row(i)
		if s.Jobs[i].Fixed || r.Cleared || len(r.Columns) == 0 || n == 0 {
			continue
		}
		cells := p.cells[i*n : (i+1)*n : (i+1)*n]
		for k, m := range p.open {
			cells[k] = r.Cells[m]
		}
		p.rows[i] = matching.Row{Base: r.Base, Cells: cells}
	}
}

func (p *planner) solve(plan []int32) {
	if len(plan) == 0 {
		return
	}
	switch p.set.matching {
	case "imfs":
		p.solver.IMFS(p.rows, plan)
	case "renew":
		p.solver.Renew(p.rows, plan)
	case "mfs":
		p.solver.MFS(p.rows, plan)
	case "mis":
		p.solver.MIS(p.rows, plan)
	}
}
