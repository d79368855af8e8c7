package pack

import "slices"

// expand writes the placements of the first n jobs in the best plan.
func (p *Packer) expand(n int) {
	t := p.best
	p.kept = n
	p.placesAt = slices.Grow(p.placesAt[:0], n+2)[:n+2]
	clear(p.placesAt)
	p.each(t, func(it *item, _, _ int32) { p.placesAt[it.job+2]++ })
	for i := range p.jobs[:n] {
		p.placesAt[i+2] += p.placesAt[i+1] + int32(len(p.jobs[i].Pinned))
	}
	all := int(p.placesAt[n+1])
	p.places = slices.Grow(p.places[:0], all)[:all]
	p.each(t, func(it *item, at, tasks int32) {
		next := &p.placesAt[it.job+1]
		p.places[*next] = Placement{Node: p.up[at], Group: it.group, Tasks: tasks}
		*next++
	})
	for i := range p.jobs[:n] {
		j := &p.jobs[i]
		p.placesAt[i+1] += int32(copy(p.places[p.placesAt[i+1]:], j.Pinned))
		if len(j.Groups) > 1 {
			slices.SortFunc(p.Placements(i), byNode)
		}
	}
}

// each calls f for the tasks of each item on each node, by ascending node. Items get the tasks
// of a run in their order.
func (p *Packer) each(t *plan, f func(it *item, at, tasks int32)) {
	for i := range t.lists {
		l := &t.lists[i]
		copy(l.jump, l.first) // now the next item of each run
		for r := range l.left {
			l.left[r] = p.items[l.items[l.first[r]]].tasks // tasks that this item has left
		}
	}
	for _, row := range t.fills {
		for at := row.first; at < row.first+row.nodes; at++ {
			for _, c := range t.counts[row.counts:row.after] {
				l := &t.lists[c.list]
				for left := c.tasks; left > 0; {
					if l.left[c.run] == 0 {
						l.jump[c.run]++
						l.left[c.run] = p.items[l.items[l.jump[c.run]]].tasks
					}
					n := min(left, l.left[c.run])
					f(&p.items[l.items[l.jump[c.run]]], at, int32(n))
					l.left[c.run] -= n
					left -= n
				}
			}
		}
	}
}

// byNode orders placements by node and then group.
func byNode(a, b Placement) int {
	if a.Node != b.Node {
		return int(a.Node) - int(b.Node)
	}
	return int(a.Group) - int(b.Group)
}
