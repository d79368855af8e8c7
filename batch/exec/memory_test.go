package exec

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Each node has processors for four of these, and memory for one.
func TestJobsGoWhereTheirMemoryIsUntilTheyHaveEnded(t *testing.T) {
	l := newFakes()
	platform := batch.Platform{Nodes: []batch.Node{{Name: "x", Processors: 4, Memory: 400}, {Name: "y", Processors: 4, Memory: 400}}}
	s := open(t, Config{Policy: newToy(8), Launcher: l, Platform: platform})
	large := func(id string) *fake {
		cmd := submission(id, 1, batch.Program{Args: []string{"x"}})
		cmd.Job.Memory = 300
		do(t, s, cmd)
		return <-l.launched
	}
	node := func(f *fake) int32 { return f.spec.Places[0].Node }
	a, b := large("a"), large("b")
	if node(a) != 0 || node(b) != 1 {
		t.Errorf("on nodes %d and %d", node(a), node(b))
	}
	b.end <- Exit{}
	await(t, s, "b", batch.PhaseEnded)
	c := large("c")
	if node(c) != 1 {
		t.Errorf("the next one is on node %d", node(c))
	}
	// What the policy starts all the same goes to the lowest-numbered processors.
	d := large("d")
	if node(d) != 0 {
		t.Errorf("one too many is on node %d", node(d))
	}
	for _, f := range []*fake{a, c, d} {
		f.end <- Exit{}
	}
}
