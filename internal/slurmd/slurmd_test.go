package slurmd

import (
	"context"
	"os"
	"testing"
)

func TestClustersRunJobsAndLeaveNothing(t *testing.T) {
	if why := Lacks(); why != "" {
		if os.Getenv("SLURMTEST_REQUIRED") != "" {
			t.Fatal(why)
		}
		t.Skip("SKIPPED WITHOUT A CLUSTER: " + why)
	}
	ctx := t.Context()
	h, err := Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(h.Dir()); !os.IsNotExist(err) {
			t.Errorf("directory of the clusters: %v", err)
		}
	}()
	all, err := h.Start(ctx, Config{Name: "a", Nodes: 2, CPUs: 5}, Config{Name: "b", Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Ten processors over two nodes, whatever this machine has.
	job, err := all[0].Try(ctx, "sbatch", "--parsable", "--output=/dev/null", "--ntasks=10", "--wrap", "sleep 60")
	if err != nil {
		t.Fatal(err)
	}
	err = until(ctx, "the job runs", func() bool {
		out, err := all[0].Try(ctx, "squeue", "--noheader", "--format=%i %T %D")
		return err == nil && out == job+" RUNNING 2"
	})
	if err != nil {
		t.Error(err)
	}
	if out, err := all[1].Try(ctx, "squeue", "--noheader"); out != "" || err != nil {
		t.Errorf("b has jobs of a: %s, %v", out, err)
	}
}

func TestAwaitFailsWithoutDaemons(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &Cluster{Config: Config{Name: "a", Nodes: 1}, dir: t.TempDir()}
	if err := c.Await(ctx); err == nil {
		t.Error("a cluster without daemons is up")
	}
}
