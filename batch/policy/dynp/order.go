package dynp

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// order compares two jobs by the processors that they take and their walltimes: below 0
// the first is planned first, 0 the one submitted first.
type order func(a, b batch.Shape) int

// orders are the policies by name. FCFS has no order but that of submission.
var orders = map[string]order{
	"FCFS": nil,
	"SJF":  func(a, b batch.Shape) int { return cmp.Compare(a.Walltime, b.Walltime) },
	"LJF":  func(a, b batch.Shape) int { return cmp.Compare(b.Walltime, a.Walltime) },
	"SAF":  compareAreas,
	"LAF":  func(a, b batch.Shape) int { return compareAreas(b, a) },
	"NJF":  func(a, b batch.Shape) int { return cmp.Compare(a.Width, b.Width) },
	"WJF":  func(a, b batch.Shape) int { return cmp.Compare(b.Width, a.Width) },
}

// Orders returns the names of all policies: first come, shortest, longest, smallest
// area, largest area, narrowest, widest job first.
func Orders() []string { return slices.Sorted(maps.Keys(orders)) }

func compareAreas(a, b batch.Shape) int {
	x, y := batch.AreaOf(a.Width, a.Walltime), batch.AreaOf(b.Width, b.Walltime)
	switch {
	case x.Less(y):
		return -1
	case y.Less(x):
		return 1
	}
	return 0
}

// sorter finds tasks by their jobs: scratch memory.
type sorter struct {
	index []int32 // by handle; -1 for a job that does not wait
	order []int32
}

// arrange puts the tasks into the order of policy i.
func (p *Policy) arrange(i int) {
	pl := &p.plans[i]
	if !p.shared {
		pl.sort(p.tasks, p.orders[i])
		return
	}
	p.list(i)
	pl.order = append(pl.order[:0], p.sorter.order...)
}

// list updates the shared list and sorts it in the order of policy i. FCFS does not sort;
// the sort is stable.
func (p *Policy) list(i int) {
	s := &p.sorter
	for len(s.index) < len(p.starts) {
		s.index = append(s.index, -1)
	}
	for k := range p.tasks {
		s.index[p.tasks[k].job] = int32(k)
	}
	s.order = s.order[:0]
	take := func(h batch.Handle) {
		if k := s.index[h]; k >= 0 {
			s.order = append(s.order, k)
			s.index[h] = -1
		}
	}
	for _, h := range p.left {
		take(h)
	}
	for k := range p.tasks {
		take(p.tasks[k].job)
	}
	if o := p.orders[i]; o != nil {
		slices.SortStableFunc(s.order, func(a, b int32) int { return o(p.tasks[a].shape, p.tasks[b].shape) })
	}
	p.left = p.left[:0]
	for _, k := range s.order {
		p.left = append(p.left, p.tasks[k].job)
	}
}

// settle leaves the shared list in the order of the active policy. For FCFS that can
// differ from the order of its plan; it is then planned again, because jobs start by that
// plan.
func (p *Policy) settle(now batch.Time) {
	if !p.shared {
		return
	}
	p.list(p.active)
	pl := &p.plans[p.active]
	if !slices.Equal(pl.order, p.sorter.order) {
		pl.order = append(pl.order[:0], p.sorter.order...)
		p.planner.make(now, pl, nil, p.tasks, p.Profile, p.objective, nil)
	}
}
