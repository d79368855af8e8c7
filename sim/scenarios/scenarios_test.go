package scenarios_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// counts are the jobs of table 1: of Bordeaux, Lyon and Toulouse, by month.
var counts = [6][3]int{
	{13084, 583, 488},
	{5822, 2695, 1123},
	{11673, 8315, 949},
	{33250, 1330, 1461},
	{6765, 2179, 1573},
	{4094, 3540, 1548},
}

// prepare prepares a scenario; the test is skipped where its logs are not.
func prepare(t *testing.T, name string) *sim.Prepared {
	t.Helper()
	s, err := scenarios.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Prepare(t.Context(), name)
	if missing, ok := errors.AsType[*swf.TraceNotFoundError](err); ok {
		t.Skipf("NOT RUN: %v", missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// home counts jobs by the site, of three, that they come from.
func home(w *sim.Workload) (n [3]int) {
	for i := range w.Jobs {
		n[w.Jobs[i].Home]++
	}
	return n
}

// days is when a job is submitted.
func days(j *sim.Job) float64 { return float64(j.Submit) / 1e6 / (24 * 3600) }

func TestEveryFileIsAScenarioWithAName(t *testing.T) {
	entries, err := filepath.Glob("*.yaml")
	if err != nil || len(entries) != len(scenarios.Names()) {
		t.Errorf("%d files, %d names, %v", len(entries), len(scenarios.Names()), err)
	}
	for _, name := range scenarios.Names() {
		s, err := scenarios.Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		var widths, speeds []string
		for i := range s.Sites {
			widths, speeds = append(widths, fmt.Sprint(s.Sites[i].Procs)), append(speeds, s.Sites[i].Speed)
			if s.Sites[i].Policy != "cbf" {
				t.Errorf("%s: policy %s", name, s.Sites[i].Policy)
			}
		}
		want := "240 338 128"
		switch {
		case name == "pwa640":
			want = "640 430 128"
		case strings.HasPrefix(name, "g5k"):
			want = "640 270 434"
		}
		if strings.Join(widths, " ") != want || strings.Join(speeds, " ") != "1.0 1.2 1.4" ||
			s.Mapping != sim.MappingMCT || s.Moldable == nil || s.Local != nil {
			t.Errorf("%s: widths %v, speeds %v, %+v", name, widths, speeds, s)
		}
	}
}

func TestGeneratedMonthsHaveTheJobsOfTable1AndSpanTheirMonth(t *testing.T) {
	lengths := []float64{31, 29, 31, 30, 31, 30}
	for m, want := range counts {
		w := prepare(t, fmt.Sprintf("g5k%d", m+1)).Workload()
		if got := home(w); got != want {
			t.Errorf("month %d: %v jobs, want %v", m+1, got, want)
		}
		if last := days(&w.Jobs[len(w.Jobs)-1]); last > lengths[m] || last < lengths[m]-1 {
			t.Errorf("month %d: the last job comes after %g days", m+1, last)
		}
	}
}

func TestGeneratedMonthKeepsItsSitesBusy(t *testing.T) {
	for _, name := range []string{"g5k1", "g5k6"} {
		r, err := prepare(t, name).Run(t.Context(), sim.Variant{Seed: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if u := r.Summary.Utilization; u < 0.3 || u > 0.9 {
			t.Errorf("%s: utilization %g", name, u)
		}
	}
}

func TestTheSixMonthsAreTheHalfYear(t *testing.T) {
	all := prepare(t, "pwa").Workload()
	if got := home(all); got != [3]int{15253, 43126, 16205} {
		t.Errorf("pwa has %v jobs", got)
	}
	type key struct {
		home int32
		id   int64
	}
	months := map[key]bool{}
	for m := range 6 {
		w := prepare(t, fmt.Sprintf("m%d", m+1)).Workload()
		for i := range w.Jobs {
			j := &w.Jobs[i]
			k := key{j.Home, j.ID}
			if d := days(j); months[k] || d < 0 || d >= 30.5 {
				t.Fatalf("month %d: job %+v after %g days, before %t", m+1, k, d, months[k])
			}
			months[k] = true
		}
	}
	if len(months) != len(all.Jobs) {
		t.Errorf("%d jobs in the months, %d in all", len(months), len(all.Jobs))
	}
}

func TestScenarioNameTakesPrecedenceOverAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("pwa", []byte("version: 1\nsites: [{name: mine, trace: t, procs: 1, policy: cbf}]\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("m1", 0o700); err != nil { // the results of a run
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pwa": "hpc2n", "./pwa": "mine", "m1": "hpc2n"} {
		if s, err := scenarios.Load(name); err != nil || s.Sites[0].Name != want {
			t.Errorf("%s: %+v %v, want a first site of %s", name, s, err, want)
		}
	}
	_, err := scenarios.Load("pwb")
	if _, ok := errors.AsType[*scenarios.UnknownError](err); !ok || !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "accepted: pwa, m1, ") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := scenarios.Load("./m1"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder: %v", err)
	}
}
