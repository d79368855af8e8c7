package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/lublin"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// simGenerate runs drover sim generate in this process.
func simGenerate(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(&cmdline.Process{
		Args: append([]string{"sim", "generate"}, args...), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	})
	return code, out.String(), errs.String()
}

func TestSimGeneratePrintsAWorkloadWithTheLoad(t *testing.T) {
	args := []string{
		"--jobs", "2000", "--procs", "64", "--load", "0.8", "--seed", "7", "--estimates", "factor:2", "--users", "9",
	}
	code, stdout, stderr := simGenerate(t, args...)
	if code != cmdline.ExitOK || !strings.HasPrefix(stderr, "2000 jobs in ") ||
		!strings.Contains(stderr, "offered load 0.8000; made in ") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	trace, err := swf.Read(strings.NewReader(stdout))
	if err != nil {
		t.Fatal(err)
	}
	if load := lublin.OfferedLoad(trace.Jobs, 64); len(trace.Jobs) != 2000 || math.Abs(load/0.8-1) > 0.02 {
		t.Errorf("%d jobs, load %g", len(trace.Jobs), load)
	}
	if j := trace.Jobs[0]; j.ReqTime != 2*j.Run || j.User < 1 || j.User > 9 {
		t.Errorf("first job %+v", j)
	}
	if _, again, _ := simGenerate(t, args...); again != stdout {
		t.Error("a second run with the same arguments differs")
	}
}

func TestSimGenerateWritesFilesThatSimRunReplays(t *testing.T) {
	dir := t.TempDir()
	plain, zipped := filepath.Join(dir, "w.swf"), filepath.Join(dir, "w.swf.gz")
	var view workloadJSON
	for _, file := range []string{plain, zipped} {
		code, stdout, stderr := simGenerate(t, "--days", "20", "--procs", "128", "--load", "0.7", "--classes",
			"divided", "--json", "-o", file)
		if err := json.Unmarshal([]byte(stdout), &view); err != nil || code != cmdline.ExitOK {
			t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
		}
		if view.Schema != "drover.sim.generate/1" || view.File != file || math.Abs(view.Load-0.7) > 0.001 ||
			view.Days > 20 || view.Days < 15 {
			t.Errorf("%+v", view)
		}
		if code, stdout, stderr := simRun(t, "--swf", file, "--procs", "128", "--policy",
			"easy"); code != cmdline.ExitOK || strings.Contains(stdout, "left out") {
			t.Errorf("%s: exit %d: %s%s", file, code, stdout, stderr)
		}
	}
	a, err := swf.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	b, err := swf.ReadFile(zipped)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Jobs) != view.Jobs || len(b.Jobs) != view.Jobs || a.Jobs[view.Jobs-1] != b.Jobs[view.Jobs-1] {
		t.Errorf("%d and %d jobs, want %d", len(a.Jobs), len(b.Jobs), view.Jobs)
	}
	magic, err := os.ReadFile(zipped)
	if err != nil || !bytes.HasPrefix(magic, []byte{0x1f, 0x8b}) {
		t.Errorf("not gzipped: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("%d files, want 2; %v", len(files), err)
	}
}

func TestSimGenerateRefusalsNameFieldAndRange(t *testing.T) {
	for want, args := range map[string][]string{
		"--jobs: 0, and days: 0, accepted: one of the two": {"--procs", "4"},
		"--procs: 0, accepted: 1..67108864":                {"--jobs", "5"},
		"--load: 0, accepted: 0.01..100":                   {"--jobs", "5", "--procs", "4", "--load", "0"},
		"--load: 1000, accepted: 0.01..100": {
			"--jobs", "5", "--procs", "4", "--load", "1000",
		},
		"--estimates: \"factor:0\", accepted: exact, factor:F": {
			"--jobs", "5", "--procs", "4", "--estimates", "factor:0",
		},
		"--classes: many, accepted: undivided": {
			"--jobs", "5", "--procs", "4", "--classes", "many",
		},
		"--users: 2000000, accepted: 0..1000000": {
			"--jobs", "5", "--procs", "4", "--users", "2000000",
		},
		"--jobs: 20000000, accepted: 1..10000000; --procs: 0, accepted": {"--jobs", "20000000"},
		"fewer: the last one would come after": {
			"--jobs", "100000", "--procs", "1", "--load", "0.01",
		},
		"--json without --out": {"--jobs", "5", "--procs", "4", "--json"},
	} {
		code, stdout, stderr := simGenerate(t, args...)
		if code != cmdline.ExitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit %d, %s%s; want %s", args, code, stdout, stderr, want)
		}
	}
	if code, _, stderr := simGenerate(t, "--jobs", "5", "--procs", "4", "-o",
		"/dev/full"); code != cmdline.ExitFailure || !strings.Contains(stderr, "output: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	missing := filepath.Join(t.TempDir(), "no", "w.swf")
	if code, _, stderr := simGenerate(t, "--jobs", "5", "--procs", "4", "-o", missing); code != cmdline.ExitNotFound ||
		!strings.Contains(stderr, "output: ") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestSimGenerateRemovesAnIncompleteWorkload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "w.swf")
	trace, err := lublin.Generate(t.Context(), lublin.Config{Jobs: 5, Procs: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeWorkload(ctx, path, trace); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the incomplete file exists, %v", err)
	}
}
