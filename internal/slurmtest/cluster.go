package slurmtest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// Patience is how long anything of a cluster may take that usually takes a moment.
const Patience = slurmd.Patience

// Config is what a cluster is.
type Config = slurmd.Config

// Cluster is a Slurm cluster that runs.
type Cluster struct{ *slurmd.Cluster }

// Start runs clusters until the test ends, and returns when all their nodes are
// up. It skips the test where it cannot.
func Start(t testing.TB, configs ...Config) []*Cluster {
	t.Helper()
	return start(t, open(t), configs)
}

// open makes a host of clusters until the test ends. It skips the test where there
// can be none, or fails it where they were promised.
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

// Run runs a Slurm command about this cluster, which has to succeed, and returns
// what it prints, trimmed.
func (c *Cluster) Run(t testing.TB, args ...string) string {
	t.Helper()
	out, err := c.Try(args...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Try runs a Slurm command about this cluster and returns what it prints, trimmed.
func (c *Cluster) Try(args ...string) (string, error) {
	return c.Cluster.Try(context.Background(), args...)
}

// StartController starts the slurmctld, after Stop or Kill, and does not wait for it.
func (c *Cluster) StartController(t testing.TB) {
	t.Helper()
	if err := c.Cluster.StartController(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the slurmctld gracefully: it saves its state.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	c.StopController()
}

// Kill ends the slurmctld as a crash of its machine would.
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

// Until waits until a condition holds, and fails the test if it never does.
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
