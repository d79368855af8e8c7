package growth

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

const growthTable = "sites,jobs,heuristic,window,seconds\n" +
	"100,10000,mct,,0.9\n100,1000,mct,,0.1\n100,10000,minmin,all,7\n10,1000,mct,,0.01\n100,10000,mct,,0.8\n" +
	"100,1000,minmin,all,0.5\n"

func growth() *Growth {
	return &Growth{
		Title: "Time of a round", X: "jobs", Y: "seconds", By: []string{
			"heuristic",
			"window",
		}, Where: map[string]string{"sites": "100"},
	}
}

func TestGrowthMakesALineOfEachCombination(t *testing.T) {
	c, err := growth().Chart(strings.NewReader(growthTable), "g.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := []chart.Line{
		{Name: "mct", X: []float64{1000, 10_000}, Y: []float64{0.1, 0.8}},
		{Name: "minmin, all", X: []float64{1000, 10_000}, Y: []float64{0.5, 7}},
	}
	if d := cmp.Diff(want, c.Lines); d != "" {
		t.Error(d)
	}
	if _, err := chart.SVG(c); err != nil {
		t.Error(err)
	}
}

func TestGrowthErrorsNameTheLine(t *testing.T) {
	for want, tc := range map[string]struct {
		table  string
		change func(*Growth)
	}{
		`g.csv: "", accepted: a head line`: {"", nil},
		`g.csv, line 1: "own", accepted: sites, jobs, heuristic, window, seconds`: {
			growthTable, func(g *Growth) { g.Y = "own" },
		},
		`g.csv: "no rows"`: {growthTable, func(g *Growth) { g.Where["sites"] = "7" }},
		`g.csv, line 2: seconds: "0", accepted: a number above 0`: {strings.Replace(growthTable, "0.9", "0", 1), nil},
		`g.csv, line 2: jobs: "x", accepted: a number above 0`:    {strings.Replace(growthTable, "10000", "x", 1), nil},
		`wrong number of fields`:                                  {growthTable + "1\n", nil},
	} {
		g := growth()
		if tc.change != nil {
			tc.change(g)
		}
		if _, err := g.Chart(strings.NewReader(tc.table), "g.csv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzGrowth(f *testing.F) {
	f.Add(growthTable)
	f.Add("sites,jobs,heuristic,window,seconds\n100,1e300,a,b,1e-300\n100,1,a,b,1e300\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := growth().Chart(strings.NewReader(text), "f.csv")
		if err != nil || len(c.Lines) > chart.MaxLines {
			return
		}
		if _, err := chart.SVG(c); err != nil {
			t.Error(err)
		}
	})
}
