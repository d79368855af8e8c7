package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// The ratio itself is for a machine with nothing else to do.
func TestBenchComparesWithPlainSubmissionsAndLeavesNothingBehind(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Config{Name: "a", Nodes: 1})[0]
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "drover-lab", "--json", "bench", "submit", "--clients", "4", "--jobs", "20",
		"--slurm", c.Conf(), "--drover", drover(t)).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var v slurmBenchView
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	if v.Schema != "drover.bench.submit-slurm/1" || len(v.Turns) != slurmTurns || v.Ratio <= 0 ||
		v.AcknowledgedRatio < v.Ratio {
		t.Errorf("%+v", v)
	}
	slurmtest.Until(t, "Slurm's queue is empty", func() bool { return c.Run(t, "squeue", "-h", "-o", "%j") == "" })
}
