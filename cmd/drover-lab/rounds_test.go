package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/growth"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// MCT compares no jobs, so it has one row for all windows.
func TestRoundsWritesARowForEachRound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	code, _, stderr := runLab(t, "rounds", "--sites", "2,3", "--jobs", "20,40", "--heuristic", "mct,minmin", "-o", file)
	if code != cmdline.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+2*2*2*3 || rows[1][0] != growth.Schema {
		t.Errorf("%v, %d rows:\n%s", err, len(rows), text)
	}
}

func TestRoundsReportsRoundsBeyondTheLimit(t *testing.T) {
	code, stdout, stderr := runLab(t, "rounds", "--sites", "3", "--jobs", "50,60", "--algorithm", "regular",
		"--heuristic", "minmin", "--limit", "1ns")
	if code != cmdline.ExitOK || strings.Count(stdout, "\n") != 1 ||
		!strings.Contains(stderr, "3 sites, 50 jobs, regular, minmin, window 20: stopped after 1ns\n3 sites, 50 jobs, "+
			"regular, minmin: stopped") || strings.Contains(stderr, "60 jobs") {
		t.Errorf("exit %d:\n%s%s", code, stdout, stderr)
	}
}

func TestRoundsRefusesBadArguments(t *testing.T) {
	for args, want := range map[string]string{
		"--sites 0":        "--sites: 0, accepted: 1 to 1000",
		"--jobs 0":         "--jobs: 0, accepted: 1 to 1000000",
		"--heuristic best": `--heuristic: "best", accepted: mct, minmin, maxmin, sufferage, maxgain, maxrelgain`,
		"--algorithm some": `--algorithm: "some", accepted: regular, all-cancellation`,
		"--limit 0s":       "--limit: 0s, accepted: more than 0s",
		"--window 0":       `--window: "0", accepted: at least 1, or all`,
	} {
		if code, _, stderr := runLab(t, append([]string{"rounds"}, strings.Fields(args)...)...); code !=
			cmdline.ExitUsage ||
			!strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
}
