package slurmtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// Patience is the limit for steps that usually take moments.
const Patience = slurmd.Patience

// Config is the configuration of a cluster.
type Config = slurmd.Config

// Cluster is a running Slurm cluster.
type Cluster struct{ *slurmd.Cluster }

// Start runs clusters until the test ends. It returns when all nodes are up, and skips
// the test on machines where clusters cannot run.
func Start(t testing.TB, configs ...Config) []*Cluster {
	t.Helper()
	return start(t, open(t), configs)
}

// open makes a host of clusters until the test ends. It skips or fails the test where
// clusters cannot run, see demand.
func open(t testing.TB, more ...string) *slurmd.Host {
	t.Helper()
	demand(t, more...)
	h, err := slurmd.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Logf("clusters: %v", err)
		}
	})
	return h
}

// demand skips the test where clusters cannot run, or fails it with SLURMTEST_REQUIRED.
func demand(t testing.TB, more ...string) {
	t.Helper()
	why := slurmd.Lacks(more...)
	switch {
	case why == "":
	case os.Getenv("SLURMTEST_REQUIRED") != "":
		t.Fatal(why)
	default:
		t.Skip("SKIPPED WITHOUT A CLUSTER: " + why)
	}
}

func start(t testing.TB, h *slurmd.Host, configs []Config) []*Cluster {
	t.Helper()
	all, err := h.Start(t.Context(), configs...)
	if err != nil {
		t.Fatal(err)
	}
	clusters := make([]*Cluster, len(all))
	for i, c := range all {
		clusters[i] = &Cluster{c}
	}
	t.Cleanup(func() {
		for _, c := range clusters {
			if t.Failed() {
				t.Logf("cluster %s, the end of its log:\n%s", c.Name, c.Log())
			}
		}
	})
	return clusters
}

// Run runs a Slurm command for this cluster and returns its trimmed output. The test
// fails if the command does.
func (c *Cluster) Run(t testing.TB, args ...string) string {
	t.Helper()
	out, err := c.Try(args...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Try runs a Slurm command for this cluster and returns its trimmed output.
func (c *Cluster) Try(args ...string) (string, error) {
	return c.Cluster.Try(context.Background(), args...)
}

// StartController starts the slurmctld after Stop or Kill. It does not wait for it.
func (c *Cluster) StartController(t testing.TB) {
	t.Helper()
	if err := c.Cluster.StartController(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the slurmctld gracefully, with its state saved.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	c.StopController()
}

// Kill ends the slurmctld like a crash.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	c.KillController()
}

// Await returns when the controller answers and all nodes are up.
func (c *Cluster) Await(t testing.TB) {
	t.Helper()
	if err := c.Cluster.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Until waits until a condition holds, and fails the test after Patience.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", Patience, what)
		}
		<-tick.C
	}
}

// Checkpoint restarts the controller and keeps a copy of its state for Crash.
func (c *Cluster) Checkpoint(t testing.TB) {
	t.Helper()
	c.Stop(t)
	saved := filepath.Join(c.Dir(), "saved")
	if err := os.RemoveAll(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(saved, os.DirFS(filepath.Join(c.Dir(), "state"))); err != nil {
		t.Fatal(err)
	}
	c.StartController(t)
	c.Await(t)
}

// Crash kills the controller and starts it with the state of the last Checkpoint: it has
// lost everything since.
func (c *Cluster) Crash(t testing.TB) {
	t.Helper()
	c.Kill(t)
	c.Forget(t)
	if err := os.CopyFS(filepath.Join(c.Dir(), "state"), os.DirFS(filepath.Join(c.Dir(), "saved"))); err != nil {
		t.Fatal(err)
	}
	c.StartController(t)
	c.Await(t)
}

// DelayPending keeps the waiting jobs from starting for 3 s. A node refuses a job whose
// credential is from the second in which it ended that job's processes, or from before.
func (c *Cluster) DelayPending(t testing.TB) {
	t.Helper()
	for _, id := range strings.Fields(c.Run(t, "squeue", "-h", "-t", "PENDING", "-o", "%i")) {
		c.Run(t, "scontrol", "update", "JobId="+id, "StartTime=now+3seconds")
	}
}

// Forget deletes the state of a stopped controller: it has lost all jobs.
func (c *Cluster) Forget(t testing.TB) {
	t.Helper()
	state := filepath.Join(c.Dir(), "state")
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(state, 0o755); err != nil {
		t.Fatal(err)
	}
}
