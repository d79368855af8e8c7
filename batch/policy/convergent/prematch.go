package convergent

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/license"
)

// prematch says who of those that compete for licenses gets them.
type prematch struct {
	clusters *license.Clusters
	members  []member // whom the clusters know, by order
	next     []member
	knapsack license.Knapsack

	items  []license.Item
	keep   []bool
	jobs   []int32 // of the items, by index in the state
	copies []int64
	clears []int32 // who was discarded in this pass
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
			p.items = append(p.items, license.Item{Value: m.Row(at).Mean(), Needs: p.members[k].needs, Kept: s.Jobs[at].Fixed})
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

// follow brings the clusters up to date. Those whom no machine can run compete with
// nobody, unless they hold their licenses.
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

// join adds a job to the clusters, with what it needs of floating licenses: of those that
// are bound its machine has enough.
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
