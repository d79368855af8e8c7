package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim"
)

// simTuning runs drover sim tuning in this process.
func simTuning(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&cmdline.Process{
		Args: append([]string{"sim", "tuning"}, args...), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	return code, out.String(), errs.String()
}

// oneHole is a scenario in which binary search misses the best width of one job.
func oneHole(t *testing.T) string {
	t.Helper()
	dir := filepath.Dir(simFile(t, "t.swf", `1 0 -1 1000 1 -1 -1 1 1000 -1 1 1 1 -1 1 1 -1 -1
2 0 -1  200 2 -1 -1 2  200 -1 1 1 1 -1 1 1 -1 -1
`))
	return simFile(t, "s.yaml", "version: 1\nmapping: mct\n"+
		"moldable: {types: [{parallel: '1', limit: 4, share: '1'}]}\n"+
		"sites: [{name: near, trace: "+filepath.Join(dir, "t.swf")+", procs: 4, policy: cbf}]\n")
}

func TestSimTuningPrintsTheLossOfBinarySearch(t *testing.T) {
	file := oneHole(t)
	code, stdout, stderr := simTuning(t, file)
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		"2 jobs were mapped, 1 of them with more than one width", "1 of these later (100.0%)", "66.0 s", "1.49",
		"exhaustive", "567.0 s", "binary", "600.0 s",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout does not contain %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "took") || !strings.Contains(stderr, "by binary search") {
		t.Errorf("the cost must be on stderr only:\n%s\n%s", stdout, stderr)
	}
	code, stdout, stderr = simTuning(t, file, "--json")
	var r sim.TuningReport
	if err := json.Unmarshal([]byte(stdout), &r); code != cmdline.ExitOK || err != nil ||
		r.Schema != sim.TuningSchema || r.Worse != 1 {
		t.Errorf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
}

func TestSimTuningRefusesScenariosWithoutMapping(t *testing.T) {
	rigid := simFile(t, "s.yaml", "version: 1\nsites: [{name: near, trace: t.swf, procs: 4, policy: cbf}]\n")
	if code, _, stderr := simTuning(t, rigid); code != cmdline.ExitUsage || !strings.Contains(stderr, "mapping none") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := simTuning(t, "nosuch"); code != cmdline.ExitNotFound || !strings.Contains(stderr, "pwa") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := simTuning(t, oneHole(t), "--local", "2"); code != cmdline.ExitUsage ||
		!strings.Contains(stderr, "--local") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
