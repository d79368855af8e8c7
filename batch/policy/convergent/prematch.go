package convergent

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/license"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// prematch selects the jobs that get their licenses.
type prematch struct {
	clusters *license.Clusters
	members  []member // jobs in the clusters, by order
	next     []member
	knapsack license.Knapsack

	items  []license.Item
	keep   []bool
	jobs   []int32 // of the items, by index in the state
	copies []int64
	clears []int32 // jobs discarded in this pass
}

// member is a job in the clusters.
type member struct {
	order int64
	needs []license.Need
}

func (p *prematch) fork() prematch {
	f := prematch{members: slices.Clone(p.members), copies: slices.Clone(p.copies)}
	if p.clusters != nil {
		f.clusters = p.clusters.Clone()
	}
	return f
}

// clear discards from the matrix all jobs that do not get their licenses.
func (p *prematch) clear(s *farm.State, m *farm.Matrix) {
	p.follow(s, m)
	p.clears = p.clears[:0]
	for _, cluster := range p.clusters.List() {
		p.items, p.jobs = p.items[:0], p.jobs[:0]
		at, k := 0, 0
		for _, order := range cluster.Jobs {
			for s.Jobs[at].Order < order {
				at++
			}
			for p.members[k].order < order {
				k++
			}
			p.jobs = append(p.jobs, int32(at))
			p.items = append(p.items, license.Item{
				Value: m.Row(at).Mean(), Needs: p.members[k].needs, Kept: s.Jobs[at].Fixed,
			})
		}
		p.keep = slices.Grow(p.keep[:0], len(p.items))[:len(p.items)]
		p.knapsack.Greedy(p.items, p.copies, p.keep)
		for i, keep := range p.keep {
			if !keep {
				m.Clear(int(p.jobs[i]))
				p.clears = append(p.clears, p.jobs[i])
			}
		}
	}
	slices.Sort(p.clears)
}

// follow updates the clusters. Jobs that no machine can run are left out, unless they hold
// their licenses.
func (p *prematch) follow(s *farm.State, m *farm.Matrix) {
	if p.clusters == nil {
		for i := range s.Licenses {
			p.copies = append(p.copies, int64(s.Licenses[i].Copies))
		}
		p.clusters = license.New(p.copies)
	}
	old := p.members
	p.next = p.next[:0]
	for i := range s.Jobs {
		j := &s.Jobs[i]
		for len(old) > 0 && old[0].order < j.Order {
			p.clusters.Remove(old[0].order)
			old = old[1:]
		}
		was := len(old) > 0 && old[0].order == j.Order
		is := len(j.Licenses) > 0 && (len(m.Row(i).Columns) > 0 || j.Fixed)
		switch {
		case was && is:
			p.next = append(p.next, old[0])
		case is:
			p.next = append(p.next, p.join(s, j))
		case was:
			p.clusters.Remove(j.Order)
		}
		if was {
			old = old[1:]
		}
	}
	for _, gone := range old {
		p.clusters.Remove(gone.order)
	}
	p.members, p.next = p.next, p.members
}

// join adds a job to the clusters with its floating licenses. Bound licenses are never scarce:
// each machine has enough for one job.
func (p *prematch) join(s *farm.State, j *farm.Job) member {
	needs := make([]license.Need, 0, len(j.Licenses))
	for _, n := range j.Licenses {
		if !s.Licenses[n.License].Bound {
			needs = append(needs, license.Need{License: n.License, Copies: n.Copies})
		}
	}
	p.clusters.Add(j.Order, needs)
	return member{j.Order, needs}
}

// readmit takes jobs that pre-matching discarded back into the matrix, by falling mean, as far
// as the licenses that the plan leaves are enough. Jobs that got licenses but no machine give
// them up first. It reports whether another matching can find more, which requires a free
// machine that one of the readmitted jobs can run on.
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
