package sim_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected files in testdata")

// line is a line of a trace with the fields that matter here: job number, submit
// time, runtime, allocated and requested processors, requested time.
func line(id, submit, run, used, procs, walltime int) string {
	return fmt.Sprintf("%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 -1 1 1 -1 -1\n", id, submit, run, used, procs, walltime)
}

// rigid is a line of a job whose width and walltime are requested.
func rigid(id, submit, run, width, walltime int) string {
	return line(id, submit, run, width, width, walltime)
}

// files writes files to a folder of the test and returns it.
func files(t testing.TB, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// replay runs a trace on one machine.
func replay(t testing.TB, s sim.Single, lines ...string) *sim.Result {
	t.Helper()
	s.Trace = filepath.Join(files(t, map[string]string{"trace.swf": strings.Join(lines, "")}), "trace.swf")
	r, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// grid runs a scenario whose traces are given beside it. The scenario's text
// needs no version.
func grid(t testing.TB, scenario string, traces map[string]string) *sim.Result {
	t.Helper()
	contents := map[string]string{"scenario.yaml": "version: 1\n" + scenario}
	for name, text := range traces {
		contents[name] = text
	}
	path := filepath.Join(files(t, contents), "scenario.yaml")
	s, err := sim.ReadScenario(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// schedule writes a result as "job@start-end", with the site's name behind it
// if there are several and "!" behind a killed job, in order of submission.
func schedule(r *sim.Result) string {
	var s strings.Builder
	for i, o := range r.Outcomes {
		if i > 0 {
			s.WriteByte(' ')
		}
		fmt.Fprintf(&s, "%d@%g-%g", r.Workload.Jobs[i].ID, float64(o.Start)/1e6, float64(o.End)/1e6)
		if len(r.Summary.Sites) > 1 {
			s.WriteString(r.Summary.Sites[o.Site].Name)
		}
		if o.Killed {
			s.WriteByte('!')
		}
	}
	return s.String()
}

// wantSchedule compares a result with an expected schedule.
func wantSchedule(t testing.TB, r *sim.Result, want string) {
	t.Helper()
	if got := schedule(r); got != want {
		t.Errorf("schedule\n got %s\nwant %s", got, want)
	}
}

// output returns the two files of a run that must not differ from run to run.
func output(t testing.TB, r *sim.Result) (summary, jobs []byte) {
	t.Helper()
	var s, j bytes.Buffer
	if err := sim.WriteJSON(&s, r.Summary); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJobs(&j); err != nil {
		t.Fatal(err)
	}
	return s.Bytes(), j.Bytes()
}

// wantFile compares with a file in testdata, or writes it under -rewrite.
func wantFile(t *testing.T, path string, got []byte) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("%s differs (-want +got); -rewrite accepts it:\n%s", path, d)
	}
}

// trace returns the path of one of the archive's traces; without it the test is
// skipped, and says so.
func trace(t testing.TB, name string) string {
	t.Helper()
	path, err := swf.FindTrace(name)
	if err != nil {
		t.Skipf("NOT COMPARED WITH %s: %v", name, err)
	}
	return path
}

// write writes a file.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
