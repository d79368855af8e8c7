package dfrs_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Both jobs want a processor and have half. When 1 needs a quarter of one, both get 4/5 of
// their needs; when it needs half of one, both get 2/3.
func TestAMeasuredNeedFreesUnusedCPU(t *testing.T) {
	d := newDriven(t, 1, "Greedy*")
	d.submit(0, one(1, 0, 1, 1, 9))
	d.submit(0, one(2, 0, 1, 1, 9))
	d.pass(0, "0 start #1 0:1@50%", "0 start #2 0:1@50%")
	d.apply(second, batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One / 4})
	d.pass(second, "1 share #1 0:1@20%", "1 share #2 0:1@80%")
	d.apply(2*second, batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One / 2})
	d.pass(2*second, "2 share #2 0:1@67%", "2 share #1 0:1@33%")
}

// The share changes although the yield is 1 before and after.
func TestAShareFollowsTheNeedThoughTheYieldStays(t *testing.T) {
	d := newDriven(t, 1, "Greedy*")
	d.submit(0, one(1, 0, 1, 1, 9))
	d.pass(0, "0 start #1 0:1@100%")
	d.apply(second, batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One / 4})
	d.pass(second, "1 share #1 0:1@25%")
}

// Job 2 has the lower priority, and moves to a node with free memory.
func TestMemoryAboveTheDeclaredNeedMovesAJob(t *testing.T) {
	d := newDriven(t, 2, "GreedyPM*")
	d.submit(0, one(1, 0, 1, 4, 9))
	d.submit(0, one(2, 0, 1, 3, 9))
	d.submit(0, one(3, 0, 1, 4, 9))
	d.pass(0, "0 start #1 0:1@50%", "0 start #2 1:1@100%", "0 start #3 0:1@50%")
	d.apply(second, batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One, Memory: 7})
	d.pass(second, "1 share #2 1:1@50%", "1 migrate #3 1:1@50%")
}

// While the declared memory is in use, no other job starts there.
func TestMemoryBelowTheDeclaredNeedIsFree(t *testing.T) {
	d := newDriven(t, 1, "Greedy*")
	d.submit(0, one(1, 0, 1, 8, 9))
	d.submit(0, one(2, 0, 1, 5, 9))
	d.pass(0, "0 start #1 0:1@100%")
	d.apply(second, batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One, Memory: 5})
	d.pass(second, "1 share #1 0:1@50%", "1 start #2 0:1@50%")
}

func TestWithoutDiscoveryNeedsAreAsDeclared(t *testing.T) {
	p := policy(t, cluster(1, 10), batch.Settings{"algorithm": "Greedy*", "discover": "off"})
	d := driven{t, p}
	d.submit(0, one(1, 0, 1, 1, 9))
	d.pass(0, "0 start #1 0:1@100%")
	d.apply(second, batch.Event{Kind: batch.Measured, Job: 1, CPU: batch.One / 4, Memory: 9})
	d.pass(second)
}
