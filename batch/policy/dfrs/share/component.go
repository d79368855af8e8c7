package share

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// goal is the objective of an allocation.
type goal uint8

const (
	nothing goal = iota
	maxMin
	average
	equal
	maxStretch
	meanStretch
)

// component is a set of jobs that depend on each other, and the overloaded nodes that connect
// them.
type component struct {
	jobs, nodes []int32
}

// allocate recomputes the yields that can have changed, or all yields if all is set; solve
// computes one component. It returns the jobs with a changed yield, ascending; the list is valid
// until the next allocation.
func (p *Pool) allocate(all bool, solve func(*Pool)) []int32 {
	p.pass++
	p.changed, p.seeds = p.changed[:0], p.seeds[:0]
	p.survey(all)
	for _, seed := range p.seeds {
		if j := &p.jobs[seed]; !j.in || j.seen == p.pass {
			continue
		}
		p.explore(seed)
		if len(p.part.nodes) == 0 {
			p.set(seed, batch.One)
			continue
		}
		solve(p)
	}
	slices.Sort(p.changed)
	return p.changed
}

// survey collects the jobs in components that must be recomputed: jobs on changed nodes that are
// or were overloaded, and new jobs.
func (p *Pool) survey(all bool) {
	for _, number := range p.touched {
		n := &p.nodes[number]
		was := n.over
		n.touched, n.over = false, n.load > p.room(n)
		if was || n.over {
			for i := range n.on {
				p.seeds = append(p.seeds, n.on[i].job)
			}
		}
	}
	p.seeds = append(p.seeds, p.fresh...)
	p.touched, p.fresh = p.touched[:0], p.fresh[:0]
	if !all {
		return
	}
	for i := range p.nodes {
		if n := &p.nodes[i]; n.over {
			for k := range n.on {
				p.seeds = append(p.seeds, n.on[k].job)
			}
		}
	}
}

// explore finds the component of a job.
func (p *Pool) explore(seed int32) {
	c := &p.part
	c.jobs, c.nodes = append(c.jobs[:0], seed), c.nodes[:0]
	first := &p.jobs[seed]
	first.seen, first.fixed = p.pass, false
	for next := 0; next < len(c.jobs); next++ {
		for _, stay := range p.jobs[c.jobs[next]].at {
			n := &p.nodes[stay.node]
			if !n.over || n.seen == p.pass {
				continue
			}
			n.seen = p.pass
			c.nodes = append(c.nodes, stay.node)
			for i := range n.on {
				if j := &p.jobs[n.on[i].job]; j.seen != p.pass {
					j.seen, j.fixed = p.pass, false
					c.jobs = append(c.jobs, n.on[i].job)
				}
			}
		}
	}
}

// set sets a job's yield.
func (p *Pool) set(number int32, yield batch.Share) {
	if j := &p.jobs[number]; j.yield != yield || j.unsaid {
		j.yield, j.unsaid = yield, false
		p.changed = append(p.changed, number)
	}
}

// becomes records the goal and reports whether it differs from that of the last allocation, so
// that all yields must be recomputed.
func (p *Pool) becomes(g goal) bool {
	was := p.last
	p.last = g
	return was != g
}
