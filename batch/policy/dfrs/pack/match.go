package pack

import (
	"cmp"
	"slices"
)

// matching is the memory of Match.
type matching struct {
	fixed      []bool // nodes that keep their names: down, or with something pinned
	next, last sight
	index      []holder
	overlap    []int64 // of one class of now with each of next
	touched    []int32
	pairs      []pair
	label      []int32 // the new name of each node, or -1
	taken      []bool  // names that are given
}

// sight is what lies on each node that has something, and which of them are alike.
type sight struct {
	all     []content // by node, then job, then group
	at      []int32   // by node
	nodes   []int32   // by content
	classes []class
}

type content struct{ job, group, tasks int32 }

// class is a row of nodes with the same content, in sight.nodes.
type class struct{ from, to int32 }

// holder says that the nodes of a class have so many tasks of a group.
type holder struct{ job, group, class, tasks int32 }

// pair is how many tasks stay if a node of one class of next is one of last's.
type pair struct {
	tasks      int64
	next, last int32
}

// Match gives the nodes of the last packing other names among themselves, so that
// more of the tasks that run now, at the places that current returns by ascending
// node and then group, stay where they are: whole nodes are interchangeable unless
// something is pinned there. It pairs first what has most in common, which need not
// be the best; if it is no better than the names there were, they stay.
//
// This goes beyond the paper, where nodes come in the same order every time.
func (p *Packer) Match(current func(job int) []Place) {
	m := &p.match
	p.fix()
	m.next.load(p.kept, m.fixed, p.Places)
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
		slices.SortFunc(p.Places(job), byNode)
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

// load takes in what jobs have on the nodes that are not fixed.
func (s *sight) load(jobs int, fixed []bool, places func(job int) []Place) {
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
	if c := a.who(b); c != 0 {
		return c
	}
	return cmp.Compare(a.tasks, b.tasks)
}

// who orders contents by job and then group.
func (c content) who(o content) int {
	if c.job != o.job {
		return cmp.Compare(c.job, o.job)
	}
	return cmp.Compare(c.group, o.group)
}

// compare lists the pairs of classes that have something in common, largest first.
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

// assign gives names pair by pair and returns how many tasks then stay.
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

// same returns how many tasks stay with the names there are.
func (m *matching) same() (stay int64) {
	for _, node := range m.next.nodes {
		a, b := m.next.on(node), m.last.on(node)
		for len(a) > 0 && len(b) > 0 {
			switch c := a[0].who(b[0]); {
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

// rest names the nodes that have nothing in common with any that is left: as they
// were called, if that name is free, else by the first that is.
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
