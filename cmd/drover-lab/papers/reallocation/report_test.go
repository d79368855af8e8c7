package reallocation

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// tiny is a plan of two scenarios and three seeds.
var tiny = Plan{Scenarios: []string{"pwa", "m1"}, Seeds: []uint64{1, 2, 3}, Tuning: binary}

// drawn is a world with different values in each experiment.
func drawn(k Key) outcome {
	x := float64(k.Seed) / 10
	if k.Scenario == "m1" {
		x += 0.05
	}
	if k.Way.Heuristic != mct {
		x *= 1.3
	}
	if k.Way.Algorithm == cancellation {
		x *= 1.1
	}
	if k.Way.Window == "all" || k.Way.Patience == guarded || k.Way.Period == "900" || k.Homogeneous {
		x *= 0.9
	}
	return outcome{
		impacted: 0.4 + x/2, moves: x / 5, early: 0.4 + x/3, relative: 1.05 - x/2, all: 1 - x/3,
		later: int(10 * x),
	}
}

// openExperiments are those of the questions, on a plan.
func openExperiments(p Plan) []Key {
	seen := map[Key]bool{}
	for _, k := range p.experiments() {
		seen[k] = true
	}
	var all []Key
	for _, q := range Questions() {
		for _, g := range q.groups {
			for _, v := range q.variants {
				for _, scenario := range p.Scenarios {
					for _, seed := range p.Seeds {
						if q.only != "" && q.only != scenario {
							continue
						}
						k := v.key(g, scenario, seed)
						if !seen[k] {
							all, seen[k] = append(all, k), true
						}
					}
				}
			}
		}
	}
	return all
}

func files(t *testing.T, r *Report) map[string][]byte {
	t.Helper()
	list, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range list {
		all[f.Name] = f.Data
	}
	return all
}

// The golden files were drawn by another process: what is drawn again is compared
// with them.
func TestTheSameRowsGiveTheSameBytes(t *testing.T) {
	r := report(t, world(t, tiny, drawn, openExperiments(tiny)...), Options{Plan: tiny, Remark: "made up"})
	got := map[string][]byte{}
	for _, s := range r.Sections() {
		if name := s.File; name == "figure-06" || name == "figure-09" || name == "question-guard" {
			svg, err := chart.SVG(s.Chart)
			if err != nil {
				t.Fatal(err)
			}
			csv, err := s.Table.CSV()
			if err != nil {
				t.Fatal(err)
			}
			got[name+".svg"], got[name+".csv"], got[name+".md"] = svg, csv, []byte(s.Table.Markdown())
		}
	}
	all := files(t, r)
	got["report.md"], got["report.json"] = all["report.md"], all["report.json"]
	for name, data := range got {
		path := filepath.Join("testdata", name)
		if *paperstest.Rewrite {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, want) {
			t.Errorf("%s differs; look at it after -rewrite:\n%s", path,
				cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(data), "\n")))
		}
	}
}

func TestEveryFigureAndQuestionHasPicturesAndTables(t *testing.T) {
	r := report(t, world(t, tiny, drawn, openExperiments(tiny)...), Options{Plan: tiny})
	all := files(t, r)
	for _, name := range []string{
		"figure-06", "figure-07", "figure-08", "figure-09", "figure-10", "figure-11", "figure-12", "figure-13",
		"question-window", "question-heuristics", "question-guard", "question-period", "question-homogeneous",
		"question-tuning", "question-size",
	} {
		for _, suffix := range []string{".svg", ".png", ".csv", ".md"} {
			if len(all[name+suffix]) == 0 {
				t.Errorf("no %s%s", name, suffix)
			}
		}
		if _, err := png.DecodeConfig(bytes.NewReader(all[name+".png"])); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(string(all["report.md"]), "]("+name+".svg)") {
			t.Errorf("%s is not in the report", name)
		}
	}
	if len(all) != 15*4+2 {
		t.Errorf("%d files", len(all))
	}
	for _, q := range r.Questions {
		if len(q.Says) == 0 {
			t.Errorf("%s has no answer", q.ID)
		}
	}
	var index struct {
		Schema string
		Claims []struct{ ID, Verdict string }
		Files  []string
	}
	if err := json.Unmarshal(all["report.json"], &index); err != nil || index.Schema != Schema ||
		len(index.Claims) != len(Claims()) {
		t.Errorf("%v: %+v", err, index)
	}
}

func TestMissingRowsAreNamedAndRefused(t *testing.T) {
	rows := world(t, Plan{Scenarios: []string{"pwa"}, Seeds: []uint64{1, 3}, Tuning: binary}, drawn)
	_, err := NewReport(rows, Options{Plan: tiny})
	lacking, ok := errors.AsType[*LackingError](err)
	if !ok || len(lacking.Lacking) != 32 || lacking.Of != 48 {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{
		"32 of 48 experiments lack; pwa, dedicated, binary tuning, seed 2, MCT-reg; ",
		"; and 22 more",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestAPartialReportSaysSoInEveryFigure(t *testing.T) {
	rows := world(t, Plan{Scenarios: []string{"pwa"}, Seeds: []uint64{1, 3}, Tuning: binary}, drawn)
	r := report(t, rows, Options{Plan: tiny, Partial: true, Remark: "quick"})
	for _, s := range r.Sections() {
		if s.Empty != strings.HasPrefix(s.File, "question") {
			t.Errorf("%s is empty: %v", s.File, s.Empty)
		}
		if s.Empty {
			continue
		}
		svg, err := chart.SVG(s.Chart)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(svg), "quick: PARTIAL, 32 of 48 lack: 8 experiments, 0 to 2 to a box") {
			t.Errorf("%s does not say what lacks", s.File)
		}
	}
	text := r.Markdown(2, "")
	if !strings.Contains(text, "quick: 16 of the plan's 48 experiments.") || !strings.Contains(text, "Not measured.") {
		t.Errorf("%s", text)
	}
	none := report(t, &Rows{}, Options{Plan: tiny, Partial: true})
	dir := filepath.Join(t.TempDir(), "new", "folder")
	names, err := none.Write(dir)
	if entries, e := os.ReadDir(dir); err != nil || e != nil || len(entries) != 2 || len(names) != 2 {
		t.Errorf("of no rows: %v, %v, %v", names, err, e)
	}
}

func TestQuestionsCompareTheSameJobsAndSeedsOnly(t *testing.T) {
	// Seed 3 has only the experiments of the paper: it must not count.
	two := Plan{Scenarios: tiny.Scenarios, Seeds: []uint64{1, 2}, Tuning: binary}
	r := report(t, world(t, tiny, func(k Key) outcome {
		o := outcome{impacted: 0.5, all: 0.9, relative: 0.9}
		if k.Way.Window == "all" {
			o.all = 0.8
		}
		if k.Seed == 3 {
			o.all = 0.1
		}
		return o
	}, openExperiments(two)...), Options{Plan: tiny})
	for _, q := range r.Questions {
		if q.ID != "window" {
			continue
		}
		want := []string{
			"MinMin, 20 oldest against MCT: **no clear difference**. Mean response of all jobs 0.900 and 0.900 of " +
				"that without reallocation, less in 0 of 16 pairs of experiments.",
			"MinMin, whole queue against MCT: **better**. Mean response of all jobs 0.800 and 0.900 of that without " +
				"reallocation, less in 16 of 16 pairs of experiments.",
		}
		if d := cmp.Diff(want, q.Says); d != "" {
			t.Error(d)
		}
	}
	worse := report(t, world(t, tiny, func(k Key) outcome {
		o := outcome{impacted: 0.5, all: 0.8, relative: 0.9}
		if k.Way.Window == "all" {
			o.all = 0.9
		}
		return o
	}, openExperiments(tiny)...), Options{Plan: tiny})
	if says := worse.Questions[0].Says[1]; !strings.Contains(says, "**worse**") {
		t.Error(says)
	}
}

func TestCellsAreEscaped(t *testing.T) {
	p := Plan{Scenarios: []string{"a|b\n## c"}, Seeds: []uint64{1}, Tuning: binary}
	rows := &Rows{}
	text := headLine
	for _, k := range p.experiments() {
		l := line(k, drawn(k))
		text += `"` + strings.Replace(l, ",", `",`, 1)
	}
	if err := rows.Read(strings.NewReader(text), "r.csv"); err != nil {
		t.Fatal(err)
	}
	if md := report(t, rows, Options{Plan: p}).Markdown(2, ""); strings.Contains(md, "\n## c") ||
		!strings.Contains(md, `a\|b ## c`) {
		t.Error(md)
	}
}
