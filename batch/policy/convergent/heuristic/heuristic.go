package heuristic

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Collection is a list of heuristics that are applied together, after the minimal requirements.
// It fills the same Matrix in every pass.
type Collection struct {
	requirements requirements
	list         []Heuristic
	written      int
}

// Collect makes a collection. It always applies the minimal requirements, without which there
// is no matrix.
func Collect(list ...Heuristic) *Collection { return &Collection{list: list} }

// Fill updates the matrix to the state. The matrix is empty or was filled by this collection
// before; the result is the same in both cases.
func (c *Collection) Fill(s *farm.State, m *farm.Matrix) {
	m.Begin(s)
	c.requirements.begin(s, m)
	for i := range s.Jobs {
		if r := m.Row(i); r.Stale {
			r.Choose(s, c.requirements.machines(s, &s.Jobs[i]))
		}
	}
	for _, h := range c.list {
		h.Begin(s, m)
	}
	c.written = 0
	for i := range s.Jobs {
		c.fill(&s.Jobs[i], m.Row(i))
	}
}

// Written returns the number of rows with cells that the last Fill recomputed.
func (c *Collection) Written() int { return c.written }

// fill computes one row.
func (c *Collection) fill(j *farm.Job, r *farm.Row) {
	if len(r.Columns) == 0 {
		return
	}
	changed := len(r.Keys) != len(c.list)
	if changed {
		r.Keys = slices.Grow(r.Keys[:0], len(c.list))[:len(c.list)]
		clear(r.Keys)
	}
	r.Base = 0
	for i, h := range c.list {
		points, key := h.Look(j, r)
		r.Base += points
		if key != r.Keys[i] {
			r.Keys[i], changed = key, true
		}
	}
	if !changed {
		return
	}
	c.written++
	r.Reset()
	for i, h := range c.list {
		if r.Keys[i] != (farm.Key{}) {
			h.Write(j, r)
		}
	}
}

// Heuristic adds points to the entries of eligible jobs.
type Heuristic interface {
	// Name returns the heuristic's name in lower case.
	Name() string
	// Begin reads all jobs, once per pass. The rows' Columns are known.
	Begin(s *farm.State, m *farm.Matrix)
	// Look returns the points that a job gets on all eligible machines, 0..farm.Ceiling, and a
	// key of what Write would add to its cells: all inputs except those that farm.Key names.
	// The zero key means that Write has nothing to add.
	Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key)
	// Write adds 0..farm.Ceiling to cells of the row's Columns. It is called only if the key is
	// not zero, and not in every pass.
	Write(j *farm.Job, r *farm.Row)
}
