package slurmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// Another process runs the cluster, so that this one can look for leftovers.
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

func TestClustersShareOneAccounting(t *testing.T) {
	began := time.Now()
	a, clusters := StartAccounted(t, Config{Name: "a", Nodes: 1, MinJobAge: 2}, Config{Name: "b", Nodes: 1},
		Config{Name: "c", Nodes: 2})
	t.Logf("three clusters and their accounting are up after %v", time.Since(began))
	job := clusters[0].Run(t, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "exit 3")
	Until(t, "accounting has its end", func() bool {
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

// sbatch asks each cluster when it would start the job, and chooses the earliest.
func TestSbatchChoosesAmongClusters(t *testing.T) {
	_, clusters := StartAccounted(t, Config{Name: "a", Nodes: 1}, Config{Name: "b", Nodes: 2},
		Config{Name: "c", Nodes: 1})
	submit := func(width string) string {
		out := clusters[0].Run(t, "sbatch", "--parsable", "-M", "a,b,c", "-o", "/dev/null", "-t", "10", "-n", width,
			"--wrap", "sleep 600")
		_, cluster, _ := strings.Cut(out, ";")
		return cluster
	}
	if got := submit("2"); got != "b" {
		t.Errorf("job of two processors, which only b has: given to %q", got)
	}
	first, second := submit("1"), submit("1")
	if first+second != "ac" && first+second != "ca" {
		t.Errorf("jobs of one processor, free at a and c: given to %q and %q", first, second)
	}
}

func TestControllersSendTheirRecordsAfterAnOutageOfSlurmdbd(t *testing.T) {
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
	Until(t, "accounting has its end", func() bool {
		return strings.HasPrefix(c.Run(t, "sacct", "-nXP", "-j", job, "-o", "State,ExitCode"), "FAILED|4:0")
	})
}
