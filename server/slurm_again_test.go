package server

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// A controller goes on from a state in which a job that runs still waited. It kills
// what it finds on the node, and starts the job again while the server is away.
func TestAJobThatSlurmStartsAgainIsLostAndReported(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0]
	blocker := c.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 100")
	p := slurmProcess(t, c, "")
	p.run()
	g := newGround(t)
	id := newID(t)
	p.submit(id, g.request("once", 1, true, 0))
	inSlurm := func() int { return len(strings.Fields(c.Run(t, "squeue", "-h", "-o", "%i"))) }
	slurmtest.Until(t, "it is in Slurm", func() bool { return inSlurm() == 2 })
	c.Stop(t)
	c.Save(t)
	c.StartController(t)
	c.Await(t)
	c.Run(t, "scancel", blocker)
	p.until(id, running)
	p.ready(id)
	p.kill()
	c.Kill(t)
	c.Restore(t)
	c.StartController(t)
	c.Await(t)
	c.Run(t, "scancel", blocker)
	slurmtest.Until(t, "it was started again", func() bool { return inSlurm() == 0 })
	p.run()
	if j := p.until(id, done, failed); j.GetState() != failed || !strings.Contains(j.GetOutcome().GetReason(), "lost sight") {
		t.Errorf("%v", j)
	}
	if count, _, _ := g.lines(t); count[id] > 1 {
		t.Errorf("it has run %d times", count[id])
	}
	slurmtest.Until(t, "it is reported, by Slurm's number", func() bool {
		text, err := os.ReadFile(p.config + ".log")
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte("[ERROR]")) && bytes.Contains(line, []byte(id)) {
				return true
			}
		}
		return false
	})
	slurmtest.Until(t, "word of it is cleared away", func() bool {
		left, err := os.ReadDir(p.dir + "/again")
		return err == nil && len(left) == 0
	})
}
