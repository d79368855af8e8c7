package slurmtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestClustersShareOneAccounting(t *testing.T) {
	began := time.Now()
	a, clusters := StartAccounted(t, Config{Name: "a", Nodes: 1, MinJobAge: 2}, Config{Name: "b", Nodes: 1}, Config{Name: "c", Nodes: 2})
	t.Logf("three clusters and their accounting are up after %v", time.Since(began))
	job := clusters[0].Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "exit 3")
	Until(t, "its end is accounted for", func() bool {
		return strings.HasPrefix(a.Run(t, "sacct", "-M", "a", "-nXP", "-j", job, "-o", "State,ExitCode"), "FAILED|3:0")
	})
	if other := clusters[1].Run(t, "sacct", "-nXP", "-o", "JobID"); other != "" {
		t.Errorf("b has jobs of a: %s", other)
	}
}

func TestNothingOfAnAccountingOutlivesItsTest(t *testing.T) {
	var a *Accounting
	t.Run("inner", func(t *testing.T) { a, _ = StartAccounted(t, Config{Name: "d", Nodes: 1}) })
	if a == nil {
		t.Skip("SKIPPED: no accounting here")
	}
	dir := filepath.Dir(a.Conf())
	if cwds, err := filepath.Glob("/proc/[0-9]*/cwd"); err == nil {
		for _, cwd := range cwds {
			if at, err := os.Readlink(cwd); err == nil && strings.HasPrefix(at, dir) {
				t.Errorf("%s is %s", cwd, at)
			}
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its directory: %v", err)
	}
}

// The rule that clients have of Slurm's own: sbatch asks each of several clusters
// when it would start a job, and gives it to the one that says the earliest.
func TestSbatchChoosesAmongClusters(t *testing.T) {
	_, clusters := StartAccounted(t, Config{Name: "a", Nodes: 1}, Config{Name: "b", Nodes: 2}, Config{Name: "c", Nodes: 1})
	submit := func(width string) string {
		out := clusters[0].Run(t, "sbatch", "--parsable", "-M", "a,b,c", "-o", "/dev/null", "-t", "10", "-n", width, "--wrap", "sleep 600")
		_, cluster, _ := strings.Cut(out, ";")
		return cluster
	}
	if got := submit("2"); got != "b" {
		t.Errorf("two processors, which only b has: given to %q", got)
	}
	first, second := submit("1"), submit("1")
	if first+second != "ac" && first+second != "ca" {
		t.Errorf("one processor, free at a and c: given to %q and %q", first, second)
	}
}

func TestASlurmdbdThatComesBackHearsWhatItMissed(t *testing.T) {
	a, clusters := StartAccounted(t, Config{Name: "a", Nodes: 1})
	c := clusters[0]
	a.Down()
	if out, err := c.Try("sacct", "-nX"); err == nil {
		t.Errorf("accounting answers without slurmdbd: %q", out)
	}
	job := c.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "exit 4")
	Until(t, "it has ended", func() bool { return c.Run(t, "squeue", "-h", "-j", job) == "" })
	if err := a.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	Until(t, "its end is accounted for", func() bool {
		return strings.HasPrefix(c.Run(t, "sacct", "-nXP", "-j", job, "-o", "State,ExitCode"), "FAILED|4:0")
	})
}
