package counted

import "github.com/seed-9b8f70bb/drover/batch"

// Menu holds the shapes of an ask that can end first: a shape that takes at least as
// long as a narrower one never does. Walltimes decrease along the menu, charges do not.
// It is scratch memory.
type Menu struct {
	Charges   []int32
	Walltimes []batch.Duration
}

// Take fills the menu from an ask.
func (m *Menu) Take(a *batch.Ask, charge func(width int32, memory int64) int32) {
	n := len(a.Shapes)
	if cap(m.Charges) < n {
		m.Charges, m.Walltimes = make([]int32, n), make([]batch.Duration, n)
	}
	charges, walltimes := m.Charges[:n], m.Walltimes[:n]
	kept, shortest := 0, batch.Forever
	for i, s := range a.Shapes {
		if s.Walltime >= shortest && i > 0 {
			continue
		}
		shortest = s.Walltime
		charges[kept], walltimes[kept] = s.Width, s.Walltime
		kept++
	}
	m.Charges, m.Walltimes = charges[:kept], walltimes[:kept]
	if a.Job.Memory > 0 {
		for i := range m.Charges {
			m.Charges[i] = charge(m.Charges[i], a.Job.Memory)
		}
	}
}

// Answer fills an estimate in which only shape i of the menu starts.
func (m *Menu) Answer(a *batch.Ask, i int, start batch.Time, out *batch.Estimate) {
	starts := out.Grow(len(a.Shapes))
	for k := range starts {
		starts[k] = batch.Never
	}
	if start == batch.Never {
		return
	}
	k := i
	for a.Shapes[k].Walltime != m.Walltimes[i] { // the first of that walltime is in the menu
		k++
	}
	starts[k] = start
}
