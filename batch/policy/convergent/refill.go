package convergent

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// readmit takes back into the matrix jobs that pre-matching has discarded, by falling
// mean, as far as what the plan leaves of licenses is enough for them. Those who got
// licenses and no machine leave them. It says whether another matching may find more: only
// if a machine is free that one of them could run on.
func (p *prematch) readmit(s *farm.State, m *farm.Matrix, plan []int32) bool {
	if len(p.clears) == 0 || !slices.Contains(plan, roster.Free) {
		return false
	}
	left := farm.Left(nil).All(s)
	planned := make([]bool, len(s.Jobs))
	for _, i := range plan {
		if i != roster.Free {
			planned[i] = true
		}
	}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		switch {
		case len(j.Licenses) == 0:
		case planned[i] || j.Fixed:
			left.Take(s, j)
		case !m.Row(i).Cleared:
			m.Clear(i)
			p.clears = append(p.clears, int32(i))
		}
	}
	slices.SortStableFunc(p.clears, func(a, b int32) int {
		return cmp.Or(cmp.Compare(m.Row(int(b)).Mean(), m.Row(int(a)).Mean()), cmp.Compare(a, b))
	})
	again := false
	for _, i := range p.clears {
		r := m.Row(int(i))
		free := slices.ContainsFunc(r.Columns, func(c int32) bool { return plan[c] == roster.Free })
		if j := &s.Jobs[i]; free && left.Enough(s, j) {
			left.Take(s, j)
			r.Cleared, again = false, true
		}
	}
	return again
}
