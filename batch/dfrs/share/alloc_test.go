package share_test

import "testing"

func TestNoAllocationInTheSteadyState(t *testing.T) {
	for name, goal := range goals {
		c := newCrowd(60, 40, 16)
		round := func() {
			for _, m := range c.moves {
				c.Remove(m.number)
				goal(c.Pool)
				c.Put(m.number, m.groups, m.places)
				goal(c.Pool)
			}
		}
		round()
		if got := testing.AllocsPerRun(1, round); got > 0 {
			t.Errorf("%s: %v allocations in %d events", name, got, 2*len(c.moves))
		}
	}
}
