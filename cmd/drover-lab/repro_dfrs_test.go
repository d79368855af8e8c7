package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// twoAlgorithms is short, and of workloads that need no log.
func twoAlgorithms(out string, more ...string) []string {
	return append([]string{
		"repro", "dfrs", "--sets", "unscaled,scaled", "--quick", "--algorithms",
		"EASY,GreedyPM */per/opt=min/minvt=600", "--out", out,
	}, more...)
}

func rowsOf(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, fractional.RowsName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReproDFRSIsTheSameOnAnyNumberOfCores(t *testing.T) {
	var rows [2][]byte
	for i, jobs := range []string{"1", "3"} {
		dir := t.TempDir()
		code, stdout, stderr := runLab(t, twoAlgorithms(dir, "--jobs", jobs)...)
		if code != cmdline.ExitOK || !strings.Contains(stdout, "GreedyPM*/per/opt=min/minvt=600") {
			t.Fatalf("exit %d: %s%s", code, stdout, stderr)
		}
		rows[i] = rowsOf(t, dir)
	}
	if !bytes.Equal(rows[0], rows[1]) {
		t.Error("rows differ")
	}
}

func TestReproDFRSContinuesACutFile(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := runLab(t, twoAlgorithms(dir)...); code != cmdline.ExitOK ||
		!strings.Contains(stderr, "16 runs") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	want := rowsOf(t, dir)
	lines := bytes.SplitAfter(want, []byte("\n"))
	torn := append(bytes.Join(lines[:11], nil), lines[11][:20]...)
	if err := os.WriteFile(filepath.Join(dir, fractional.RowsName), torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runLab(t, twoAlgorithms(dir)...); code != cmdline.ExitOK ||
		!strings.Contains(stderr, "6 runs") || !strings.Contains(stderr, "10 were there") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if got := rowsOf(t, dir); !bytes.Equal(got, want) {
		t.Error("rows differ")
	}
	code, _, stderr := runLab(t, twoAlgorithms(dir, "--penalty", "60s")...)
	if code != cmdline.ExitRefused || !strings.Contains(stderr, "penalty: 300 s in the folder, 60 s now") {
		t.Errorf("another penalty: exit %d: %s", code, stderr)
	}
}

// endsInTheMiddle is a context that ends in the middle: when it has been asked so often.
type endsInTheMiddle struct {
	context.Context
	left *atomic.Int32
}

func (c endsInTheMiddle) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestReproDFRSKeepsFinishedRowsWhenInterrupted(t *testing.T) {
	dir := t.TempDir()
	left := &atomic.Int32{}
	left.Store(30)
	var out, errs bytes.Buffer
	code := run(&cmdline.Process{
		Args: twoAlgorithms(dir, "--jobs", "1"), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Signals: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return endsInTheMiddle{ctx, left}, func() {}
		},
	})
	kept := bytes.Count(rowsOf(t, dir), []byte("\n")) - 1
	if code != cmdline.ExitInterrupted || kept < 1 || kept > 15 ||
		!strings.Contains(errs.String(), fmt.Sprintf("%d of 16 rows are kept in %s", kept, dir)) {
		t.Fatalf("exit %d, %d rows: %s%s", code, kept, &out, &errs)
	}
	code, _, stderr := runLab(t, twoAlgorithms(dir)...)
	if code != cmdline.ExitOK || !strings.Contains(stderr, fmt.Sprintf("%d runs in", 16-kept)) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestReproDFRSRefusesBadArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"is invalid from byte":                               {"--algorithms", "GreedyPM*/per/opt=median"},
		`unknown set "hpc", accepted: hpc2n, unscaled`:       {"--sets", "hpc"},
		`unknown table "6", accepted: 2, 3, 4, 5, figures`:   {"--tables", "6"},
		"--periods: 500ms, accepted: 1s or more":             {"--periods", "500ms"},
		"--penalty: -1s, accepted: 0s or more":               {"--penalty=-1s"},
		"--periods: 1.0000001s, accepted: 1s or more":        {"--periods", "1.0000001s"},
		`setting period: "99999h0m0s", accepted`:             {"--periods", "99999h"},
		"penalty: 2000000h0m0s, accepted: 0s..1000h0m0s":     {"--penalty", "2000000h"},
		"accepted: settings of the policy but its period":    {"--algorithms", "GreedyP*/opt=min period=5s"},
		`policy dfrs: unknown setting "speed", accepted: al`: {"--algorithms", "GreedyP*/opt=min speed=5"},
	} {
		code, _, stderr := runLab(t, append([]string{"repro", "dfrs", "--out", t.TempDir()}, args...)...)
		if code != cmdline.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
	}
}

func TestReproDFRSWarnsOfAPeriodUpToThePenalty(t *testing.T) {
	const want = "warning: a period of 10m0s is no longer than the penalty of 10m0s"
	for _, period := range []string{"600s", "1200s"} {
		code, _, stderr := runLab(t, "repro", "dfrs", "--sets", "unscaled", "--quick", "--algorithms", "GreedyPM*/per",
			"--penalty", "600s", "--periods", period, "--out", t.TempDir())
		if code != cmdline.ExitOK || strings.Contains(stderr, want) != (period == "600s") {
			t.Errorf("%s: exit %d: %s", period, code, stderr)
		}
	}
}

func TestReproDFRSLeavesOutAMissingLog(t *testing.T) {
	t.Setenv(swf.TracesEnv, t.TempDir())
	t.Chdir(t.TempDir())
	code, stdout, stderr := runLab(t, "repro", "dfrs", "--quick", "--tables", "4", "--out", "out")
	if code != cmdline.ExitOK || !strings.Contains(stderr, "left out: HPC2N") ||
		!strings.Contains(stdout, "files in out") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	code, _, stderr = runLab(t, "repro", "dfrs", "--quick", "--sets", "hpc2n", "--out", "out")
	if code != cmdline.ExitNotFound || !strings.Contains(stderr, fractional.HPC2NFile) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A report that goes into a page's folder does not bring its rows along.
func TestReproDFRSKeepsRowsApartFromTheReport(t *testing.T) {
	rows, out := t.TempDir(), filepath.Join(t.TempDir(), "report")
	code, _, stderr := runLab(t, "repro", "dfrs", "--sets", "unscaled", "--quick", "--tables", "4", "--results", rows,
		"--out", out)
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for dir, want := range map[string]bool{rows: true, out: false} {
		if _, err := os.Stat(filepath.Join(dir, "runs.csv")); (err == nil) != want {
			t.Errorf("rows in %s: %v, want %t", dir, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "report.json")); err != nil {
		t.Error(err)
	}
}
