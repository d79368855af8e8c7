package campaign

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/sim"
)

// made is a scenario that needs no trace.
const made = `version: 1
mapping: mct
moldable: {}
sites:
  - {name: a, lublin: {jobs: 300, span: 2d, seed: 1, estimates: "uniform:5"}, procs: 64, policy: cbf}
  - {name: b, lublin: {jobs: 100, span: 2d, seed: 2, estimates: "uniform:5"}, procs: 32, speed: 1.5, policy: cbf}
`

// loadMade loads a campaign over that scenario.
func loadMade(t *testing.T, lists string) *Campaign {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "c.yaml")
	for name, text := range map[string]string{
		"c.yaml": "version: 1\nname: c\nscenarios: [made.yaml]\n" + lists, "made.yaml": made,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRowsMatchTheSimulatorsComparison(t *testing.T) {
	c := loadMade(t,
		"seeds: [5]\ndedicated: [true, false]\nhomogeneous: [false, true]\ntunings: [exhaustive, binary]\n"+
			"algorithms: [all-cancellation]\nheuristics: [minmin]\npatience: [off]\n")
	o := options(t.TempDir(), nil)
	rows, err := csv.NewReader(strings.NewReader(mustRun(t, c, o))).ReadAll()
	if err != nil || len(rows) != 17 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	p, err := c.Scenarios[0].Grid.Prepare(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, variant := range []sim.Variant{
		{},
		{Tuning: "binary"},
		{Local: sim.PaperLocal},
		{Local: sim.PaperLocal, Tuning: "binary"},
		{Homogeneous: true},
		{Homogeneous: true, Tuning: "binary"},
		{Homogeneous: true, Local: sim.PaperLocal},
		{Homogeneous: true, Local: sim.PaperLocal, Tuning: "binary"},
	} {
		v := variant
		v.Seed = 5
		reference, err := p.Run(t.Context(), v, nil)
		if err != nil {
			t.Fatal(err)
		}
		v.Reallocation = &sim.Reallocation{Algorithm: "all-cancellation", Heuristic: "minmin", Patience: "off"}
		run, err := p.Run(t.Context(), v, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := sim.Compare(reference, run)
		if err != nil || want.Reallocations == 0 || want.GridJobs == want.Jobs == !v.Local.IsZero() {
			t.Fatalf("comparison %+v, %v", want, err)
		}
		e := Experiment{Key: [keys]string(rows[2+2*n])}
		if d := cmp.Diff(rowOf(&e, &want), rows[2+2*n]); d != "" {
			t.Errorf("%+v:\n%s", variant, d)
		}
		if got := rows[1+2*n][20]; got != number(want.ResponseReference) {
			t.Errorf("the reference has a mean response of %s, want %v", got, want.ResponseReference)
		}
		n++
	}
}

func TestQuickRunsTheFirstDaysOnly(t *testing.T) {
	c := loadMade(t, "seeds: [5, 6]\n")
	c.Scenarios[0].Grid.Sites[0].Lublin.Span = "28d"
	q, _ := c.Quick()
	o := options(t.TempDir(), nil)
	if got := mustRun(t, q, o); strings.Count(got, "\n") != 3 || !strings.Contains(got, ",none,,,,,,250,250,") {
		t.Errorf("results, want 150 and 100 jobs:\n%s", got)
	}
}
