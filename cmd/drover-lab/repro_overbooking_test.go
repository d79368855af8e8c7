package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

func TestReproOverbookingIsTheSameOnAnyNumberOfCores(t *testing.T) {
	fewTraces(t, 300)
	dir := t.TempDir()
	page := filepath.Join(dir, "docs", "page.md")
	if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte("before\n"+marks("overbooking")+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var rows [2][]byte
	for i, jobs := range []string{"1", "3"} {
		out := filepath.Join(dir, "docs", "figures", jobs)
		code, stdout, stderr := runLab(t, "repro", "overbooking", "--quick", "--jobs", jobs, "--out", out, "--doc",
			page)
		if code != cmdline.ExitOK || !strings.Contains(stdout, "the first 4000 jobs of each log") ||
			!strings.Contains(stdout, "earns most with maxPoF") {
			t.Fatalf("exit %d: %s%s", code, stdout, stderr)
		}
		var err error
		if rows[i], err = os.ReadFile(filepath.Join(out, "rows.csv")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(rows[0], rows[1]) {
		t.Error("rows differ")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "](figures/3/profit.svg)") || !strings.HasSuffix(string(text), "-->\nafter\n") {
		t.Errorf("the page:\n%s", text)
	}
}

func TestReproOverbookingNeedsALog(t *testing.T) {
	t.Setenv("DROVER_TRACES", t.TempDir())
	t.Chdir(t.TempDir())
	code, _, stderr := runLab(t, "repro", "overbooking", "--out", filepath.Join(t.TempDir(), "out"))
	if code == cmdline.ExitOK || !strings.Contains(stderr, "KTH-SP2-1996-2.swf.gz") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
