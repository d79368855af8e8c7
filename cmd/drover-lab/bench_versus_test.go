package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/slurmd"
)

// What the ratios are is for clusters with long jobs.
func TestBenchVersusSlurmRunsEachJobOnceOnBothSides(t *testing.T) {
	if why := slurmd.Lacks(); why != "" {
		if os.Getenv("SLURMTEST_REQUIRED") != "" {
			t.Fatal(why)
		}
		t.Skip("SKIPPED WITHOUT A CLUSTER: " + why)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var said strings.Builder
	cmd := exec.CommandContext(ctx, "drover-lab", "--json", "bench", "versus-slurm", "--quick", "--repetitions", "1",
		"--out", dir, "--drover", drover(t))
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	var v versusView
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	if v.Schema != "drover.bench.versus-slurm/1" || len(v.Repetitions) != 1 {
		t.Fatalf("%s", out)
	}
	one := &v.Repetitions[0]
	if one.Jobs == 0 || one.Local == 0 {
		t.Errorf("%d jobs of the grid, %d of local users", one.Jobs, one.Local)
	}
	for _, s := range []spreadView{
		v.Ratios.ResponseMean, v.Ratios.ResponseP95, v.Ratios.SlowdownMean,
		v.Ratios.SlowdownP95,
	} {
		if s.GeometricMean <= 0 || s.Min > s.Max {
			t.Errorf("a ratio of %+v", s)
		}
	}
	for _, s := range []*versusSideView{&one.Drover, &one.Slurm} {
		if s.ResponseMean < 1 || s.SlowdownMean < 1 || s.Makespan <= 0 || s.Utilization <= 0 || s.Utilization > 1 {
			t.Errorf("%+v", s)
		}
	}
	if one.Slurm.Moves != 0 {
		t.Errorf("Slurm has moved %d jobs", one.Slurm.Moves)
	}
	// Some jobs have stayed where they were submitted, and both have said something of them.
	if len(v.Estimates) != 5 || v.Estimates[0].Jobs == 0 || v.Estimates[1].Jobs != v.Estimates[0].Jobs ||
		v.Estimates[4].Jobs != one.Jobs {
		t.Errorf("estimates: %+v", v.Estimates)
	}
	checkVersusJobs(t, filepath.Join(dir, "jobs.csv"), one.Jobs+one.Local)
}

// checkVersusJobs fails unless the file has so many jobs on each side, the same ones,
// each of which ended after it began, and began after it was submitted.
func checkVersusJobs(t *testing.T, path string, jobs int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, name := range rows[0] {
		column[name] = i
	}
	sides := map[string]map[string]string{"drover": {}, "slurm": {}}
	for _, row := range rows[1:] {
		get := func(name string) string { return row[column[name]] }
		sides[get("side")][get("job")] = get("width") + " " + get("runtime") + " " + get("walltime")
		if get("begun") == "" || get("ended") == "" || get("submitted") == "" {
			t.Errorf("a job that has not run: %v", row)
		}
	}
	if len(sides["drover"]) != jobs || len(rows) != 2*jobs+1 {
		t.Errorf("%d rows and %d jobs on Drover's side, want %d jobs", len(rows), len(sides["drover"]), jobs)
	}
	for job, what := range sides["drover"] {
		if sides["slurm"][job] != what {
			t.Errorf("job %s is %s on one side and %s on the other", job, what, sides["slurm"][job])
		}
	}
}

func TestBenchVersusSlurmRefusesBadArguments(t *testing.T) {
	for _, args := range []string{
		"--repetitions 0", "--minutes 0", "--minutes NaN", "--load 0", "--load NaN", "--local 1", "--processors " +
			"16", "--processors 16,33 --node 2",
		"--processors 16,1", "--processors 200,200", "--node 0", "--most-moves -1", "--limit 0s", "--period " +
			"10ms", "--threshold -1s", "--rule none",
	} {
		t.Run(args, func(t *testing.T) {
			code, _, stderr := runLab(t, append([]string{"bench", "versus-slurm"}, strings.Fields(args)...)...)
			if code != cmdline.ExitUsage {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}
