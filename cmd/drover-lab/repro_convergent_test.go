package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// fewRuns is short.
func fewRuns(out string, more ...string) []string {
	return append([]string{
		"repro", "convergent", "--quick", "--sets", "loads,knapsack", "--algorithms", "CS_ip,EDF",
		"--arrivals", "8,16", "--out", out,
	}, more...)
}

func farmRows(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, farm.RowsName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReproConvergentIsTheSameOnAnyNumberOfCores(t *testing.T) {
	var rows [2][]byte
	for i, jobs := range []string{"1", "3"} {
		dir := t.TempDir()
		code, stdout, stderr := runLab(t, fewRuns(dir, "--jobs", jobs)...)
		if code != cmdline.ExitOK || !strings.Contains(stdout, "knapsack 40..45%") ||
			!strings.Contains(stdout, "16 rows in") {
			t.Fatalf("exit %d: %s%s", code, stdout, stderr)
		}
		rows[i] = farmRows(t, dir)
	}
	if !bytes.Equal(rows[0], rows[1]) {
		t.Error("rows differ")
	}
}

func TestReproConvergentContinuesACutFile(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := runLab(t, fewRuns(dir)...); code != cmdline.ExitOK || !strings.Contains(stderr, "16 runs") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	want := farmRows(t, dir)
	lines := bytes.SplitAfter(want, []byte("\n"))
	torn := append(bytes.Join(lines[:9], nil), lines[9][:20]...)
	if err := os.WriteFile(filepath.Join(dir, farm.RowsName), torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runLab(t, fewRuns(dir)...); code != cmdline.ExitOK || !strings.Contains(stderr, "7 runs") ||
		!strings.Contains(stderr, "9 were there") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if got := farmRows(t, dir); !bytes.Equal(got, want) {
		t.Error("rows differ")
	}
	if err := os.WriteFile(filepath.Join(dir, farm.RowsName), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runLab(t, fewRuns(dir)...); code != cmdline.ExitRefused ||
		!strings.Contains(stderr, "line 1: schema") {
		t.Errorf("a line that is none: exit %d: %s", code, stderr)
	}
}

func TestReproConvergentRefusesBadArguments(t *testing.T) {
	for _, flags := range [][]string{
		{"--sets", "all"},
		{"--algorithms", "SJF"},
		{"--algorithms", "CS_ip k=2"},
		{"--arrivals", "0"},
		{"--seeds", "0"},
	} {
		dir := t.TempDir()
		code, _, stderr := runLab(t, append([]string{"repro", "convergent", "--out", dir}, flags...)...)
		if code != cmdline.ExitUsage || !strings.Contains(stderr, "accepted") {
			t.Errorf("%v: exit %d: %s", flags, code, stderr)
		}
	}
}

// The report is written, and put into a page, of the rows that there are.
func TestReproConvergentReportsTheRowsThereAre(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	if err := os.WriteFile(page, []byte("before\n"+strings.ReplaceAll(marks("convergent"), "<!-- end",
		"old\n<!-- end")+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runLab(t, fewRuns(filepath.Join(dir, "rows"), "--seeds", "1")...); code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	code, stdout, stderr := runLab(t, "repro", "convergent", "--quick", "--partial", "--results",
		filepath.Join(dir, "rows"), "--out", filepath.Join(dir, "report"), "--doc", page)
	if code != cmdline.ExitOK || !strings.Contains(stdout, "8 runs; ") ||
		!strings.Contains(stdout, "Not the whole: farms of a fifth") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.Contains(s, "](report/figure-4.svg)") || !strings.HasPrefix(s, "before\n") ||
		strings.Contains(s, "old\n") {
		t.Errorf("the page: %s", s)
	}
	for _, name := range []string{"report.json", "table-1.csv", "figure-4.svg"} {
		if _, err := os.Stat(filepath.Join(dir, "report", name)); err != nil {
			t.Error(err)
		}
	}
}
