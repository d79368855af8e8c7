package server

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// A slurmd is killed, Slurm says that its node has failed, and the job's program runs
// on: the next attempt does not begin beside it.
func TestARestartableJobOfAFailedNodeDoesNotRunBesideItself(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 2})[0]
	p := slurmProcess(t, c, "")
	p.run()
	g := newGround(t)
	id := newID(t)
	p.submit(id, g.request("again", 1, true, 0))
	p.until(id, running)
	p.ready(id)
	_, _, first := g.lines(t)
	node := c.Run(t, "squeue", "-h", "-o", "%N")
	c.KillNode(map[string]int{"an1": 0, "an2": 1}[node])
	c.Run(t, "scontrol", "update", "NodeName="+node, "State=DOWN", "Reason=test")
	slurmtest.Until(t, "another attempt has begun", func() bool {
		if count, _, _ := g.lines(t); count[id] == 2 {
			return true
		}
		return false
	})
	if err := syscall.Kill(first[id], 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the first attempt still runs: %v", err)
	}
	g.open()
	p.until(id, done)
	slurmtest.Until(t, "word of it is cleared away", func() bool {
		left, err := os.ReadDir(p.dir + "/again")
		return err == nil && len(left) == 0
	})
}
