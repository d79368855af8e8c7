package farm

import "slices"

// Matrix is the Job-Machine matrix. It keeps its rows from pass to pass and reuses its
// memory. The zero Matrix is empty and ready to use.
type Matrix struct {
	rows, before []*Row
	spare        []*Row // rows of jobs that left
	machines     []Machine
	licenses     []License
	links        *Links
	changed      bool // by the last Begin
}

// Begin starts a pass with one row for each job of the state, in their order. A job of the
// last pass keeps its row, which is Stale if the job or the farm has changed. Cleared rows
// are restored.
func (m *Matrix) Begin(s *State) {
	m.changed = m.follow(s)
	m.rows, m.before = m.before[:0], m.rows
	old := m.before
	for i := range s.Jobs {
		j := &s.Jobs[i]
		for len(old) > 0 && old[0].order < j.Order {
			m.spare = append(m.spare, old[0])
			old = old[1:]
		}
		var r *Row
		if len(old) > 0 && old[0].order == j.Order {
			r, old = old[0], old[1:]
		} else {
			r = m.row()
			r.order, r.Stale = j.Order, true
		}
		r.Cleared = false
		r.widen(len(s.Machines))
		if !r.fits(j) {
			r.take(j)
			r.Stale = true
		}
		r.Stale = r.Stale || m.changed
		m.rows = append(m.rows, r)
	}
	m.spare = append(m.spare, old...)
	clear(m.before)
}

// follow updates the farm, and reports whether it has changed.
func (m *Matrix) follow(s *State) bool {
	same := m.links == s.Links && slices.Equal(m.licenses, s.Licenses) &&
		slices.EqualFunc(m.machines, s.Machines, func(a, b Machine) bool { return a.same(&b) })
	if same {
		return false
	}
	m.links = s.Links
	m.licenses = append(m.licenses[:0], s.Licenses...)
	m.machines = append(m.machines[:0], s.Machines...)
	for i := range m.machines {
		m.machines[i].Licenses = slices.Clone(m.machines[i].Licenses)
	}
	return true
}

// row returns an unused row.
func (m *Matrix) row() *Row {
	if n := len(m.spare); n > 0 {
		r := m.spare[n-1]
		m.spare = m.spare[:n-1]
		return r
	}
	return &Row{}
}

// Changed reports whether machines, licenses or links differ from the previous pass; true
// in the first pass.
func (m *Matrix) Changed() bool { return m.changed }

// Len returns the number of rows.
func (m *Matrix) Len() int { return len(m.rows) }

// Row returns the row of the job with this index in State.Jobs.
func (m *Matrix) Row(job int) *Row { return m.rows[job] }

// At returns the entry of a job and a machine, by their indices in the state.
func (m *Matrix) At(job, machine int) Points { return m.rows[job].At(int32(machine)) }

// Clear discards a job: until the next pass its entries are 0.
func (m *Matrix) Clear(job int) { m.rows[job].Cleared = true }

// Points are the values of the Job-Machine matrix, in units of 2^-20. It is an alias:
// pre-matching and matching work on plain slices of int64.
type Points = int64

// Point is one point as the paper counts them.
const Point Points = 1 << 20

// Ceiling is the most that one heuristic adds to one entry: 2 million points. Eight
// heuristics then stay below 2^44, and the sum of a matching of 2^18 machines below 2^62.
const Ceiling Points = 1 << 41
