package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dynp"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// fewTraces puts made-up traces of the paper's names where traces are looked for.
func fewTraces(t *testing.T, jobs int) {
	t.Helper()
	dir := t.TempDir()
	for k, trace := range dynp.Traces {
		var b strings.Builder
		for i := range jobs {
			wall := 100 + 37*(i*(k+3)%29)
			fmt.Fprintf(&b, "%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 -1 1 1 -1 -1\n", i+1, 20*i, 1+wall*(i%4)/3,
				1+i*(k+5)%97,
				1+i*(k+5)%97, wall)
		}
		if err := os.WriteFile(filepath.Join(dir, trace.File), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("DROVER_TRACES", dir)
}

func TestReproDynPPrintsTheTables(t *testing.T) {
	fewTraces(t, 60)
	dir := t.TempDir()
	out, page := filepath.Join(dir, "docs", "figures", "dynp"), filepath.Join(dir, "docs", "page.md")
	if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte("before\n"+marks("dynp")+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runLab(t, "repro", "dynp", "--out", out, "--doc", page)
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		"| KTH | FCFS | 3.1015 |", "| SDSC | preferred:FCFS | full | 32.6965 |", "| SDSC | FCFS = SJF | SJF | 42.56% |",
		"a self-tuning step on CTC: ", "(paper, CTC: 6000 µs with 22.5;", "files in " + out,
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "](figures/dynp/equal-kth.svg)") ||
		!strings.HasSuffix(string(text), "-->\nafter\n") {
		t.Errorf("the page is\n%s", text)
	}
	for _, name := range []string{"timing.json", "report.json", "table-6.csv", "equal-sdsc.png"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
}

// All but what the clock says is the same on any number of cores.
func TestReproDynPGivesTheSameBytesOnAnyNumberOfCores(t *testing.T) {
	fewTraces(t, 40)
	read := func(jobs string) map[string]string {
		dir := t.TempDir()
		if code, _, stderr := runLab(t, "repro", "dynp", "--quick", "--jobs", jobs, "--out",
			dir); code != cmdline.ExitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		files := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() == "timing.json" {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(data)
		}
		return files
	}
	one, four := read("1"), read("4")
	if len(one) != len(four) || len(one) < 10 {
		t.Fatalf("%d and %d files", len(one), len(four))
	}
	for name, text := range one {
		if four[name] != text {
			t.Errorf("%s differs", name)
		}
	}
}

func TestReproDynPLeavesOutMissingTraces(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DROVER_TRACES", dir)
	t.Chdir(dir) // nothing is found beside the checkout
	code, _, stderr := runLab(t, "repro", "dynp", "--quick", "--out", filepath.Join(dir, "out"))
	if code != cmdline.ExitNotFound || !strings.Contains(stderr, "left out: KTH") ||
		!strings.Contains(stderr, "SDSC-SP2-1998") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr = runLab(t, "repro", "dynp", "--jobs", "0"); code != cmdline.ExitUsage ||
		!strings.Contains(stderr, "--jobs: 0, accepted") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
