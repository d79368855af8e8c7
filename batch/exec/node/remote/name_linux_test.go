package remote

import (
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// Two sites can have nodes of the same name on one host. The tasks of one are not leftovers of
// a predecessor of the other.
func TestTwoNodesOfTheSameNameDoNotTouchEachOthersTasks(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	r.launch(r.task(1, runs+`sleep 300`))
	pid := r.pid()
	nodetest.Named(t, r.Name) // leftover tasks are killed before the node is up
	if !nodetest.Alive(pid) {
		t.Error("it was killed")
	}
}
