package share

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// local is the data about the jobs of one component, in ascending order, while yields with a
// lower bound are computed.
type local struct {
	wanted, lower, yields []batch.Share
}

// number numbers the jobs of the component from 0 and sets the lower bounds to want, where that
// fits. It sorts first, so that floats are added in an order that does not depend on the past.
//
// It always fits if no CPU is set aside by Take. If leaving tasks hold too much of a node, the
// bounds of all jobs there are lowered in proportion, also for their tasks elsewhere.
func (p *Pool) number(want func(*Pool, *job) batch.Share) {
	slices.Sort(p.part.jobs)
	slices.Sort(p.part.nodes)
	l := &p.local
	l.lower, l.yields, l.wanted = l.lower[:0], l.yields[:0], l.wanted[:0]
	for i, number := range p.part.jobs {
		j := &p.jobs[number]
		slices.SortFunc(j.at, func(a, b stay) int {
			return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.need, b.need), cmp.Compare(a.cpu, b.cpu))
		})
		j.local = int32(i)
		l.wanted = append(l.wanted, want(p, j))
	}
	l.lower = append(l.lower, l.wanted...)
	for _, number := range p.part.nodes {
		n := &p.nodes[number]
		slices.SortFunc(n.on, func(a, b tenant) int {
			return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.need, b.need), cmp.Compare(a.tasks, b.tasks))
		})
		room, use := p.room(n)<<20, p.use(n, l.wanted)
		if use <= room {
			continue
		}
		for i := range n.on {
			at := p.jobs[n.on[i].job].local
			l.lower[at] = min(l.lower[at], scale(l.wanted[at], room, use))
		}
	}
	l.yields = append(l.yields, l.lower...)
}

// use returns the CPU that the jobs of a node use at given yields, in 2^-40 of a processor.
func (p *Pool) use(n *node, yields []batch.Share) int64 {
	var sum int64
	for i := range n.on {
		t := &n.on[i]
		sum += int64(t.tasks) * int64(t.need) * int64(yields[p.jobs[t.job].local])
	}
	return sum
}

// settle lowers yields where rounding may have exceeded a node's CPU, never below the lower
// bounds, which fit. Then it sets the yields of the component's jobs.
func (p *Pool) settle() {
	l := &p.local
	for _, number := range p.part.nodes {
		n := &p.nodes[number]
		over := p.use(n, l.yields) - p.room(n)<<20
		for i := 0; i < len(n.on) && over > 0; i++ {
			t := &n.on[i]
			at, cpu := p.jobs[t.job].local, int64(t.tasks)*int64(t.need)
			by := min((over+cpu-1)/cpu, int64(l.yields[at]-l.lower[at]))
			l.yields[at] -= batch.Share(by)
			over -= by * cpu // a lower estimate: the job may have more tasks here
		}
	}
	for i, number := range p.part.jobs {
		p.set(number, l.yields[i])
	}
}
