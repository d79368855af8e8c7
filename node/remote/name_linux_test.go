package remote

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/freeport"
	"github.com/seed-9b8f70bb/drover/supervisor"
)

// Two sites may each have a node of that name on one host: what the other runs is not what
// a predecessor has left.
func TestTwoNodesOfOneNameLeaveEachOthersTasksAlone(t *testing.T) {
	r := newRig(t)
	defer r.keep(30 * time.Second)()
	r.launch(r.task(1, runs+`sleep 300`))
	pid := r.pid()
	other := &rig{t: t, dir: t.TempDir(), name: r.name, address: freeport.Address(t)}
	other.start() // what is left is killed before it is up
	defer func() {
		other.stop(syscall.SIGTERM)
		if err := supervisor.Dismiss(context.Background(), other.own(), true); err != nil {
			t.Error(err)
		}
	}()
	if !alive(pid) {
		t.Error("it was killed")
	}
}
