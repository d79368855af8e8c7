package exec

import (
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// twoHosts have processors for four of the jobs below each, and memory for one.
var twoHosts = batch.Platform{Nodes: []batch.Node{{Name: "x", Processors: 4, Memory: 400}, {Name: "y", Processors: 4, Memory: 400}}}

func TestJobsGoWhereTheirMemoryIsUntilTheyHaveEnded(t *testing.T) {
	l := newFakes()
	platform := twoHosts
	s := open(t, Config{Policy: newToy(8), Launcher: l, Platform: platform})
	large := func(id string) *fake {
		cmd := submission(id, 1, batch.Program{Args: []string{"x"}})
		cmd.Job.Memory = 300
		do(t, s, cmd)
		return <-l.launched
	}
	node := func(f *fake) int32 { return f.spec.Allocation[0].Node }
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

func TestTheMemoryOfWhatIsAdoptedIsCounted(t *testing.T) {
	l := newFakes()
	a, proc := found("a", 1, batch.Minute, time.Now())
	a.Job.Memory = 300
	s := open(t, Config{Policy: newToy(8), Launcher: l, Platform: twoHosts, Adopt: []Adopted{a}})
	cmd := submission("b", 1, batch.Program{Args: []string{"x"}})
	cmd.Job.Memory = 300
	do(t, s, cmd)
	b := <-l.launched
	if at := b.spec.Allocation[0].Node; at != 1 {
		t.Errorf("on node %d, beside one that needs most of it", at)
	}
	b.end <- Exit{}
	proc.end <- Exit{}
}
