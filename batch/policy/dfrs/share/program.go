package share

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// program is the linear program of one component and its scratch memory. x is the increase of
// each column above its lower bound.
//
//	maximize   sum of worth × x
//	such that  every row: sum of cell × x <= free,   0 <= x <= upper
//
// Rows are the overloaded nodes, columns the jobs; equal nodes share a row and equal jobs a
// column. Equal jobs rise together, because the sum does not depend on which of them rises.
type program struct {
	simplex
	nodes    []int32 // of the rows
	kinds    []kind  // of the columns
	columnOf []int32 // of the component's jobs
	prints   []uint64
}

// kind is the common data of the jobs in a column.
type kind struct {
	print uint64
	worth float64
	first int32 // one of the jobs, by its number within the component
	alike int32 // number of jobs
}

// formulate writes the program of the current component.
func (p *Pool) formulate(worth func(*Pool, *job) float64) {
	g, l := &p.program, &p.local
	p.findRows()
	p.findColumns(worth)
	g.begin(len(g.nodes), len(g.kinds))
	for c := range g.kinds {
		k := &g.kinds[c]
		g.worth[c] = k.worth
		g.upper[c] = float64(int64(k.alike)*int64(batch.One-l.lower[k.first])) / float64(batch.One)
	}
	for r, number := range g.nodes {
		n := &p.nodes[number]
		g.free[r] = float64(p.room(n)<<20-p.use(n, l.lower)) / (1 << 40)
		for i := range n.on {
			t := &n.on[i]
			at := p.jobs[t.job].local
			c := g.columnOf[at]
			if k := &g.kinds[c]; k.first == at { // each of the equal jobs rises by its part of x
				cpu := float64(int64(t.tasks)*int64(t.need)) / float64(batch.One)
				g.cells[r*len(g.kinds)+int(c)] += cpu
			}
		}
	}
}

// findRows omits nodes with the same tasks as another node that has no more room.
func (p *Pool) findRows() {
	g := &p.program
	g.nodes, g.prints = g.nodes[:0], g.prints[:0]
	for _, number := range p.part.nodes {
		n := &p.nodes[number]
		var print uint64
		for i := range n.on {
			t := &n.on[i]
			print += mix(t.job, int64(t.tasks)<<32|int64(t.need))
		}
		n.row = -1
		at := 0
		for at < len(g.nodes) && (g.prints[at] != print || !slices.Equal(n.on, p.nodes[g.nodes[at]].on)) {
			at++
		}
		switch {
		case at == len(g.nodes):
			g.nodes, g.prints = append(g.nodes, number), append(g.prints, print)
			n.row = int32(at)
		case p.room(n) < p.room(&p.nodes[g.nodes[at]]):
			p.nodes[g.nodes[at]].row = -1
			g.nodes[at] = number
			n.row = int32(at)
		}
	}
}

// findColumns groups equal jobs of the component into columns.
func (p *Pool) findColumns(worth func(*Pool, *job) float64) {
	g, l := &p.program, &p.local
	g.kinds, g.columnOf = g.kinds[:0], g.columnOf[:0]
	for i, number := range p.part.jobs {
		j := &p.jobs[number]
		k := kind{worth: worth(p, j), first: int32(i), alike: 1}
		for _, stay := range j.at {
			if row, ok := p.rowOf(stay); ok {
				k.print += mix(row, stay.cpu)
			}
		}
		at := 0
		for at < len(g.kinds) {
			o := &g.kinds[at]
			if o.print == k.print && o.worth <= k.worth && o.worth >= k.worth &&
				l.lower[o.first] == l.lower[i] && p.sameRows(j, &p.jobs[p.part.jobs[o.first]]) {
				break
			}
			at++
		}
		if at == len(g.kinds) {
			g.kinds = append(g.kinds, k)
		} else {
			g.kinds[at].alike++
		}
		g.columnOf = append(g.columnOf, int32(at))
	}
}

// rowOf returns the row of the node of a stay, if it has one.
func (p *Pool) rowOf(s stay) (int32, bool) {
	n := &p.nodes[s.node]
	return n.row, n.over && n.row >= 0
}

// sameRows reports whether two jobs have the same use of each row.
func (p *Pool) sameRows(a, b *job) bool {
	i, k := 0, 0
	for {
		var row, other int32
		for i < len(a.at) && !p.inRow(a.at[i]) {
			i++
		}
		for k < len(b.at) && !p.inRow(b.at[k]) {
			k++
		}
		if i == len(a.at) || k == len(b.at) {
			return i == len(a.at) && k == len(b.at)
		}
		row, _ = p.rowOf(a.at[i])
		other, _ = p.rowOf(b.at[k])
		if row != other || a.at[i].cpu != b.at[k].cpu {
			return false
		}
		i, k = i+1, k+1
	}
}

func (p *Pool) inRow(s stay) bool {
	_, ok := p.rowOf(s)
	return ok
}

// mix is a hash of two numbers. Sets with equal sums of hashes are equal except for rare
// collisions.
func mix(a int32, b int64) uint64 {
	x := uint64(a)*0x9e3779b97f4a7c15 ^ uint64(b)*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
