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

// Written returns the number of rows whose cells the last Fill recomputed.
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
