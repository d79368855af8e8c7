package pack

import (
	"cmp"
	"slices"
)

// matching is the memory of Match.
type matching struct {
	fixed      []bool // nodes that keep their names: down, or with pinned tasks
	next, last sight
	index      []holder
	overlap    []int64 // of one class of next with each class of last
	touched    []int32
	pairs      []pair
	label      []int32 // the new name of each node, or -1
	taken      []bool  // used names
}

// sight describes the content of all nodes that are not empty, and groups equal nodes.
type sight struct {
	all     []content // by node, then job, then group
	at      []int32   // by node
	nodes   []int32   // by content
	classes []class
}

type content struct{ job, group, tasks int32 }

// class is a range in sight.nodes of nodes with the same content.
type class struct{ from, to int32 }

// holder is the number of tasks of a group on each node of a class.
type holder struct{ job, group, class, tasks int32 }

// pair is the number of tasks that stay if a node of class next becomes a node of class last.
type pair struct {
	tasks      int64
	next, last int32
}

// Match renames the nodes of the last packing so that more of the running tasks stay on their
// nodes. Nodes are interchangeable unless they have pinned tasks. current returns the present
// places of a job by ascending node and then group. Match pairs the nodes with the most common
// tasks first, which is not always optimal, and keeps the old names if the result is no better.
//
// The paper does not do this: it always takes nodes in the same order.
func (p *Packer) Match(current func(job int) []Placement) {
	m := &p.match
	p.fix()
	m.next.load(p.kept, m.fixed, p.Placements)
	m.last.load(p.kept, m.fixed, current)
	m.compare()
	gain := m.assign() - m.same()
	if gain <= 0 {
		return
	}
	m.rest()
	for i := range p.places {
		if node := &p.places[i].Node; !m.fixed[*node] {
			*node = m.label[*node]
		}
	}
	for job := range p.kept {
		slices.SortFunc(p.Placements(job), byNode)
	}
}

func (p *Packer) fix() {
	m := &p.match
	m.fixed = slices.Grow(m.fixed[:0], int(p.nodes))[:p.nodes]
	for node := range m.fixed {
		m.fixed[node] = true
	}
	for _, node := range p.up {
		m.fixed[node] = false
	}
	for i := range p.pins {
		if int(p.pins[i].job) < p.kept {
			m.fixed[p.pins[i].node] = true
		}
	}
}

// load reads the content of the nodes that are not fixed.
func (s *sight) load(jobs int, fixed []bool, places func(job int) []Placement) {
	nodes := len(fixed)
	s.at = slices.Grow(s.at[:0], nodes+2)[:nodes+2]
	clear(s.at)
	for job := range jobs {
		for _, p := range places(job) {
			if !fixed[p.Node] {
				s.at[p.Node+2]++
			}
		}
	}
	s.nodes = s.nodes[:0]
	for node := range nodes {
		if s.at[node+2] > 0 {
			s.nodes = append(s.nodes, int32(node))
		}
		s.at[node+2] += s.at[node+1]
	}
	all := int(s.at[nodes+1])
	s.all = slices.Grow(s.all[:0], all)[:all]
	for job := range jobs {
		for _, p := range places(job) {
			if !fixed[p.Node] {
				s.all[s.at[p.Node+1]] = content{int32(job), p.Group, p.Tasks}
				s.at[p.Node+1]++
			}
		}
	}
	slices.SortFunc(s.nodes, func(a, b int32) int {
		return cmp.Or(slices.CompareFunc(s.on(a), s.on(b), byContent), cmp.Compare(a, b))
	})
	s.classes = s.classes[:0]
	for i, node := range s.nodes {
		if i > 0 && slices.Equal(s.on(s.nodes[i-1]), s.on(node)) {
			s.classes[len(s.classes)-1].to++
			continue
		}
		s.classes = append(s.classes, class{int32(i), int32(i) + 1})
	}
}

func (s *sight) on(node int32) []content { return s.all[s.at[node]:s.at[node+1]] }

func byContent(a, b content) int {
	if c := a.compare(b); c != 0 {
		return c
	}
	return cmp.Compare(a.tasks, b.tasks)
}

// compare orders contents by job and then group.
func (c content) compare(o content) int {
	if c.job != o.job {
		return cmp.Compare(c.job, o.job)
	}
	return cmp.Compare(c.group, o.group)
}

// compare lists the pairs of classes with common tasks, largest first.
func (m *matching) compare() {
	m.index, m.pairs = m.index[:0], m.pairs[:0]
	for i, c := range m.next.classes {
		for _, has := range m.next.on(m.next.nodes[c.from]) {
			m.index = append(m.index, holder{has.job, has.group, int32(i), has.tasks})
		}
	}
	slices.SortFunc(m.index, func(a, b holder) int {
		return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.group, b.group), cmp.Compare(a.class, b.class))
	})
	m.overlap = slices.Grow(m.overlap[:0], len(m.next.classes))[:len(m.next.classes)]
	clear(m.overlap)
	for i, c := range m.last.classes {
		m.touched = m.touched[:0]
		for _, has := range m.last.on(m.last.nodes[c.from]) {
			at, _ := slices.BinarySearchFunc(m.index, has, func(h holder, c content) int {
				return cmp.Or(cmp.Compare(h.job, c.job), cmp.Compare(h.group, c.group))
			})
			for _, h := range m.index[at:] {
				if h.job != has.job || h.group != has.group {
					break
				}
				if m.overlap[h.class] == 0 {
					m.touched = append(m.touched, h.class)
				}
				m.overlap[h.class] += int64(min(h.tasks, has.tasks))
			}
		}
		for _, next := range m.touched {
			m.pairs = append(m.pairs, pair{m.overlap[next], next, int32(i)})
			m.overlap[next] = 0
		}
	}
	slices.SortFunc(m.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.tasks, a.tasks), cmp.Compare(a.next, b.next), cmp.Compare(a.last, b.last))
	})
}

// assign names nodes pair by pair and returns the number of tasks that then stay.
func (m *matching) assign() (stay int64) {
	nodes := len(m.fixed)
	m.label = slices.Grow(m.label[:0], nodes)[:nodes]
	m.taken = slices.Grow(m.taken[:0], nodes)[:nodes]
	clear(m.taken)
	for node := range m.label {
		m.label[node] = -1
	}
	for _, pair := range m.pairs {
		next, last := &m.next.classes[pair.next], &m.last.classes[pair.last]
		for ; next.from < next.to && last.from < last.to; next.from, last.from = next.from+1, last.from+1 {
			name := m.last.nodes[last.from]
			m.label[m.next.nodes[next.from]] = name
			m.taken[name] = true
			stay += pair.tasks
		}
	}
	return stay
}

// same returns the number of tasks that stay without renaming.
func (m *matching) same() (stay int64) {
	for _, node := range m.next.nodes {
		a, b := m.next.on(node), m.last.on(node)
		for len(a) > 0 && len(b) > 0 {
			switch c := a[0].compare(b[0]); {
			case c < 0:
				a = a[1:]
			case c > 0:
				b = b[1:]
			default:
				stay += int64(min(a[0].tasks, b[0].tasks))
				a, b = a[1:], b[1:]
			}
		}
	}
	return stay
}

// rest names the remaining nodes: by their old name if it is free, else by the first free one.
func (m *matching) rest() {
	for _, node := range m.next.nodes {
		if m.label[node] < 0 && !m.taken[node] {
			m.label[node], m.taken[node] = node, true
		}
	}
	free := int32(0)
	for _, node := range m.next.nodes {
		if m.label[node] >= 0 {
			continue
		}
		for m.fixed[free] || m.taken[free] {
			free++
		}
		m.label[node], m.taken[free] = free, true
	}
}
