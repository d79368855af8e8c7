package slurmtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestClustersRunJobsAndSurviveTheirControllers(t *testing.T) {
	all := Start(t, Config{Name: "a", Nodes: 2}, Config{Name: "b", Nodes: 1, CPUs: 2})
	a, b := all[0], all[1]
	job := a.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "-n", "2", "--wrap", "sleep 60")
	Until(t, "the job runs on a", func() bool { return a.Run(t, "squeue", "-h", "-o", "%i %T") == job+" RUNNING" })
	if other := b.Run(t, "squeue", "-h"); other != "" {
		t.Errorf("b has jobs of a: %s", other)
	}
	a.Stop(t)
	a.StartController(t)
	a.Await(t)
	if got := a.Run(t, "squeue", "-h", "-o", "%i %T"); got != job+" RUNNING" {
		t.Errorf("after a graceful stop: %q", got)
	}
	b.Kill(t)
	b.StartController(t)
	b.Await(t)
	b.Run(t, "sbatch", "-o", "/dev/null", "-n", "2", "--wrap", "true")
}

// What is left of a test is looked for by another process, which has seen its end.
func TestNothingOfAClusterOutlivesItsTest(t *testing.T) {
	if os.Getenv("SLURMTEST_INNER") != "" {
		c := Start(t, Config{Name: "c", Nodes: 1})[0]
		job := c.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 300")
		Until(t, "the job runs", func() bool { return c.Run(t, "squeue", "-h", "-j", job, "-o", "%T") == "RUNNING" })
		t.Logf("DIR=%s=", c.Dir())
		return
	}
	demand(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "SLURMTEST_INNER=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, dir, _ := strings.Cut(string(out), "DIR=")
	dir, _, _ = strings.Cut(dir, "=")
	if dir == "" {
		t.Fatalf("no directory in %s", out)
	}
	Until(t, "all processes are gone", func() bool {
		left, _ := exec.CommandContext(t.Context(), "pgrep", "-f", dir).Output()
		return len(left) == 0
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("directory of the cluster: %v", err)
	}
}
