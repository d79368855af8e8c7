package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	probes     = 2
	probeUsual = 60 * time.Millisecond // of a probe on an idle processor of today
	probeNoise = 2.0                   // times as long says nothing yet
	mostSlow   = 20.0
)

// probeHost returns how many times slower than usual this host starts a service
// and computes, at least 1: because it is old, or busy. The demo's walltimes are
// longer by that, so that no job is killed for it.
func probeHost(ctx context.Context, program, dir string) (float64, error) {
	var longest time.Duration
	for range probes {
		began := time.Now()
		out, err := exec.CommandContext(ctx, program, "service", "mandelbrot",
			"--width=240", "--height=160", "--output="+filepath.Join(dir, "probe.png")).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("a service does not run on this host: %w: %s", err, out)
		}
		longest = max(longest, time.Since(began))
	}
	return slowness(longest), nil
}

func slowness(probe time.Duration) float64 {
	s := float64(probe) / float64(probeUsual)
	if s < probeNoise {
		return 1
	}
	return min(s, mostSlow)
}
