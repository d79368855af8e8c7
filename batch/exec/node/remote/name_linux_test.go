package remote

import (
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// Two sites may each have a node of that name on one host: what the other runs is not what
// a predecessor has left.
func TestTwoNodesOfTheSameNameDoNotTouchEachOthersTasks(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	r.launch(r.task(1, runs+`sleep 300`))
	pid := r.pid()
	nodetest.Named(t, r.Name) // what is left is killed before it is up
	if !nodetest.Alive(pid) {
		t.Error("it was killed")
	}
}
