package share_test

import "testing"

func TestAllocationsInTheSteadyStateDoNotAllocateMemory(t *testing.T) {
	for name, goal := range goals {
		c := newCrowd(60, 40, 8)
		round := func() {
			for _, m := range c.moves[:500] {
				c.Remove(m.number)
				goal(c.Pool)
				c.Put(m.number, m.groups, m.places)
				goal(c.Pool)
			}
		}
		round()
		if got := testing.AllocsPerRun(1, round); got > 0 {
			t.Errorf("%s: %v allocations in 1000 events", name, got)
		}
	}
}
