package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// option is a node that greedy mapping may give a task.
type option struct {
	load, free int64
	node       int32
}

func (a *option) before(b *option) bool {
	return a.load < b.load || a.load == b.load && a.node < b.node
}

// greedy maps a job task by task: each goes to the node with the lowest load of those
// with memory for it, the first of several. It changes nothing.
func (p *Policy) greedy(j *job) ([]place, bool) { return p.greedyOn(j, p.free, p.load) }

// greedyOn is greedy with other occupations. It changes them for a job with several
// groups.
func (p *Policy) greedyOn(j *job, free, load []int64) ([]place, bool) {
	if j.home != nil {
		return j.home, p.stand(j.home)
	}
	if p.crowds(j) {
		return nil, false
	}
	if len(j.groups) == 1 {
		return p.greedyGroup(nil, 0, &j.groups[0], free, load)
	}
	free, load = slices.Clone(free), slices.Clone(load)
	var places []place
	for i := range j.groups {
		g, from, ok := &j.groups[i], len(places), false
		if places, ok = p.greedyGroup(places, int32(i), g, free, load); !ok {
			return nil, false
		}
		for _, at := range places[from:] {
			free[at.Node] -= int64(at.Tasks) * g.Memory
			load[at.Node] += int64(at.Tasks) * int64(g.CPU)
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.Node != b.Node {
			return int(a.Node - b.Node)
		}
		return int(a.Group - b.Group)
	})
	return places, true
}

// greedyGroup appends the allocation of one group, by ascending node.
func (p *Policy) greedyGroup(places []place, group int32, g *pack.Group, free, load []int64) ([]place, bool) {
	if g.Tasks == 1 {
		best := int32(-1)
		for n := range free {
			if free[n] >= g.Memory && !p.machine.Down[n] && (best < 0 || load[n] < load[best]) {
				best = int32(n)
			}
		}
		if best < 0 {
			return nil, false
		}
		return append(places, place{Node: best, Group: group, Tasks: 1}), true
	}
	if !p.holds(g, free) {
		return nil, false
	}
	p.options = p.options[:0]
	for n := range free {
		if free[n] >= g.Memory && !p.machine.Down[n] {
			p.options = append(p.options, option{load[n], free[n], int32(n)})
		}
	}
	p.spread(g)
	for n, tasks := range p.sums {
		if tasks > 0 {
			places = append(places, place{Node: int32(n), Group: group, Tasks: tasks})
			p.sums[n] = 0
		}
	}
	return places, true
}

// spread distributes the tasks of a group over the options, which have room for them.
func (p *Policy) spread(g *pack.Group) {
	h := p.options
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
	for range g.Tasks {
		top := &h[0]
		p.sums[top.node]++
		top.load += int64(g.CPU)
		if top.free -= g.Memory; top.free < g.Memory {
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		sink(h, 0)
	}
}

// sink restores the heap of options below i.
func sink(h []option, i int) {
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h); k++ {
			if h[k].before(&h[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// holds reports whether the free memory of the nodes holds all tasks of a group.
func (p *Policy) holds(g *pack.Group, free []int64) bool {
	left := int64(g.Tasks)
	for n := range free {
		if free[n] < g.Memory || p.machine.Down[n] {
			continue
		}
		if g.Memory == 0 {
			return true
		}
		if left -= 1; free[n] >= 2*g.Memory {
			left -= free[n]/g.Memory - 1
		}
		if left <= 0 {
			return true
		}
	}
	return false
}

// fits reports whether greedy can map a job.
func (p *Policy) fits(j *job) bool {
	if len(j.groups) == 1 {
		return p.holds(&j.groups[0], p.free)
	}
	_, ok := p.greedy(j)
	return ok
}

// refusal is a job that did not fit: until a job leaves, no job with at least as many
// tasks of at least as much memory fits either.
type refusal struct {
	memory int64
	tasks  int32
}

// fill starts waiting jobs that fit, by descending priority.
func (p *Policy) fill(now batch.Time) {
	p.refused = p.refused[:0]
	p.order = p.order[:0]
	for _, h := range p.fresh {
		if j := &p.jobs[h]; !j.arriving {
			p.order = append(p.order, ranked{job: h})
		}
	}
	p.rank(now, &p.resting)
	p.order = append(p.order, p.ranks...)
	for _, r := range p.order {
		if j := &p.jobs[r.job]; !j.arriving && !p.refuses(j) && !p.try(r.job) {
			p.refuse(j)
		}
	}
}

func (p *Policy) refuses(j *job) bool {
	if len(j.groups) > 1 || j.home != nil {
		return false
	}
	g := &j.groups[0]
	for i := range p.refused {
		if r := &p.refused[i]; g.Memory >= r.memory && g.Tasks >= r.tasks {
			return true
		}
	}
	return false
}

func (p *Policy) refuse(j *job) {
	if len(j.groups) > 1 || j.home != nil {
		return
	}
	g := &j.groups[0]
	p.refused = slices.DeleteFunc(p.refused, func(r refusal) bool { return r.memory >= g.Memory && r.tasks >= g.Tasks })
	p.refused = append(p.refused, refusal{g.Memory, g.Tasks})
}

// try maps a waiting job greedily, if it fits.
func (p *Policy) try(h batch.Handle) bool {
	places, ok := p.greedy(&p.jobs[h])
	if ok {
		p.place(h, places)
	}
	return ok
}
