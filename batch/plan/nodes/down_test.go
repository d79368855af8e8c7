package nodes

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestNodeThatIsNotThereIsPassedOverAndKeepsWhatIsBooked(t *testing.T) {
	a := New(batch.Platform{Nodes: []batch.Node{{Processors: 2}, {Processors: 2}}})
	first := a.Pick(1)
	a.SetDown(0, true)
	a.SetDown(0, true)
	if a.Spare() != 2 {
		t.Errorf("%d spare, want the other node's", a.Spare())
	}
	if got := a.Pick(2); got[0].Node != 1 || a.Spare() != 0 {
		t.Errorf("picked %v, %d spare", got, a.Spare())
	}
	if got := a.Pick(1); got != nil {
		t.Errorf("picked %v", got)
	}
	a.Release(first)
	if a.Spare() != 0 {
		t.Errorf("%d spare when it was given back", a.Spare())
	}
	a.SetDown(0, false)
	a.SetDown(0, false)
	if got := a.Pick(2); got == nil || got[0].Node != 0 || got[0].Processors != 2 || a.Spare() != 0 {
		t.Errorf("picked %v, %d spare", got, a.Spare())
	}
}
