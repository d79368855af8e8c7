package dfrs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// fraction is a row that was never run: its bound is 2, and a tenth of the demand is not
// met, less with longer periods.
func fraction(set string, load, trace int, algorithm string, period batch.Duration, worst float64) fractional.Row {
	r := fractional.Row{
		Case: fractional.Case{
			Set: set, Load: load, Trace: trace, Algorithm: algorithm, Period: periodOf(algorithm, period),
			Penalty: 300 * batch.Second,
		},
		Jobs: 10, Bound: 2, MaxStretch: 2 * worst, MeanStretch: worst / 2,
		Preemptions: 20, Migrations: 40, PreemptedBytes: 18e12, MigratedBytes: 36e11,
		Span: 10 * 3600 * batch.Second, Work: 1000, Demand: 1100,
	}
	if period > tablePeriod && r.Period != 0 {
		r.Demand -= period.Seconds() / 200
	}
	if set == fractional.Whole {
		r.Bound = 0
	}
	return r
}

const minft300 = "GreedyPM*/per/opt=min/minft=300"

// shares are rows of two weeks, two seeds, and three loads: of some algorithms only.
func shares() []fractional.Row {
	var rows []fractional.Row
	each := func(set string, load int) {
		for trace := 1; trace <= 2; trace++ {
			more := float64(trace)
			add := func(algorithm string, period batch.Duration, worst float64) {
				rows = append(rows, fraction(set, load, trace, algorithm, period, worst))
			}
			add(fractional.FCFS, 0, 3500*more)
			add(fractional.EASY, 0, 3000*more)
			add("Greedy*/opt=min", 0, 100*more)
			add(secondBest, tablePeriod, 5*more)
			add(minft300, tablePeriod, 6*more)
			add(recommended+" decay=1h", tablePeriod, 3*more)
			for _, p := range []batch.Duration{tablePeriod, recommendedPeriod, lastPeriod} {
				add(recommended, p, 4*more+p.Seconds()/3000)
			}
			if trace == 1 {
				add("GreedyP*/opt=min", 0, 10)
			}
		}
	}
	each(fractional.HPC2N, 0)
	each(fractional.Unscaled, 0)
	for _, load := range []int{1, 7, 9} {
		each(fractional.Scaled, load)
	}
	return append(rows, fraction(fractional.Whole, 0, 0, fractional.EASY, 0, 1),
		fraction(fractional.Unscaled, 0, 1, "EquiPartition", 0, 50),
		fraction(fractional.Unscaled, 0, 2, "EquiPartition", 0,
			70))
}

func madeDFRS(t *testing.T, rows []fractional.Row) *Report {
	t.Helper()
	r, err := NewReport(rows, "made up")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What was written down about the figures of all runs explains no others.
func TestAReportOnAPartOfTheRunsExplainsNothing(t *testing.T) {
	const explained = "Why claims differ"
	whole, err := NewReport(shares(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(whole.Markdown(2, ""), explained) || strings.Contains(madeDFRS(t, shares()).Markdown(2, ""),
		explained) {
		t.Error("of all runs it is to be explained, of some not")
	}
}

func TestTheReportMatchesTheGoldenFiles(t *testing.T) {
	whole, err := NewReport(shares(), "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := whole.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.md", "table-2-hpc2n.csv", "figure-1-greedy.svg", "figure-3a.svg"} {
		k := slices.IndexFunc(files, func(f papers.File) bool { return f.Name == name })
		if k < 0 {
			t.Errorf("there is no %s", name)
			continue
		}
		path := filepath.Join("testdata", name)
		if *paperstest.Rewrite {
			if err := os.WriteFile(path, files[k].Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(files[k].Data, want) {
			t.Errorf("%s differs; look at it after -rewrite:\n%s", path,
				cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(files[k].Data), "\n")))
		}
	}
}

// Rows come in any order, and one may be there twice.
func TestTheSameRowsMakeTheSameBytes(t *testing.T) {
	rows := shares()
	first, err := madeDFRS(t, rows).Files()
	if err != nil {
		t.Fatal(err)
	}
	again := append(slices.Clone(rows), rows[3])
	second, err := madeDFRS(t, again).Files()
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if name := first[i].Name; name != "report.md" && name != "report.json" &&
			!bytes.Equal(first[i].Data, second[i].Data) {
			t.Errorf("%s differs", name)
		}
	}
}

// Rows of some instances only are no figure of the set: the cell is blank, and named.
func TestMissingCellsAreBlankAndNamed(t *testing.T) {
	r := madeDFRS(t, shares())
	lacking := strings.Join(r.study.lacking(), "\n")
	for _, want := range []string{
		"HPC2N: 2 of 182 instances.",
		"Tables 2 and 4, hpc2n: 15 of 20 algorithms lack: `GreedyP*/opt=min` (1 of 2 instances), ",
		"scaled synthetic: 6 of 900 instances.",
		"Table 5, hpc2n: 112 of 118 algorithms lack",
	} {
		if !strings.Contains(lacking, want) {
			t.Errorf("it does not say: %s", want)
		}
	}
	if t.Failed() {
		t.Log(lacking)
	}
	if strings.Contains(lacking, "Figures 3 and 4") {
		t.Error("three periods are a figure")
	}
	page := r.Markdown(2, "")
	if !strings.Contains(page, "| GreedyP*/opt=min |  | 13.5 |  |  | 68.0 |  |  | 819.2 |  |\n") {
		t.Error("a cell of one of two instances is not blank")
	}
	if !strings.Contains(page, "| EASY | 4,500.0 | 3,041.9 | 1.48 | 2,121.3 | 3,438.0 | 0.62 | 6,000.0 | 21,317.4 | "+
		"0.28 "+
		"|\n") {
		t.Error("EASY is not there with mean, standard deviation and maximum")
	}
}

func TestAReportWithoutRowsNamesWhatIsMissing(t *testing.T) {
	r := madeDFRS(t, nil)
	if _, err := r.Files(); err != nil {
		t.Error(err)
	}
	for _, c := range r.Results {
		if c.Verdict != papers.Open {
			t.Errorf("%s %s of nothing", c.ID, c.Verdict)
		}
	}
	if text := r.Markdown(2, ""); !strings.Contains(text, "- HPC2N: 0 of 182 instances.") ||
		!strings.Contains(text, "Not measured.") {
		t.Error(text[:500])
	}
}

func TestRowsOfTwoPenaltiesAreRefused(t *testing.T) {
	rows := shares()
	rows[5].Penalty *= 2
	if _, err := NewReport(rows, ""); err == nil || !strings.Contains(err.Error(), "accepted: one of them") {
		t.Error(err)
	}
}

// What is off by more than 2 is listed, with the reason of the first pattern that fits.
func TestNumbersThatAreOffHaveAReason(t *testing.T) {
	s, err := newStudy(shares())
	if err != nil {
		t.Fatal(err)
	}
	s.instances[setPart{fractional.HPC2N, whole}] = 182 // as if it were all
	s.instances[setPart{fractional.Unscaled, whole}] = 2
	for k, c := range s.cells {
		if k.set == fractional.HPC2N {
			c.n = 182
		}
	}
	why, err := readReasons([]byte(`
claims: {}
rows:
  - rows: hpc2n (FCFS|EASY)
    of: max
    ours: lower
    why: two weeks only
  - rows: '[a-z0-9]+ .*\*/opt=min'
    ours: higher
    why: never
  - rows: scaled .*
    why: few loads
`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range s.off(why) {
		got[o.Set+" "+o.Algorithm+" "+o.Of] = o.Why
	}
	for row, want := range map[string]string{
		"hpc2n EASY max":               "two weeks only",
		"hpc2n Greedy*/opt=min avg":    "", // lower
		"scaled Greedy*/opt=min avg":   "few loads",
		"unscaled Greedy*/opt=min avg": "",
	} {
		if why, ok := got[row]; !ok || why != want {
			t.Errorf("%s: %v %q, want %q", row, ok, why, want)
		}
	}
	if _, ok := got["hpc2n EASY avg"]; ok {
		t.Error("4500 is not off from 3041.9 by more than 2")
	}
	if _, ok := got["unscaled EASY max"]; ok {
		t.Error("the greatest of 2 is compared with that of 100")
	}
}

func TestReasonsWithoutAClaimOrRowAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"claims: {nonsense: x}":                     `"nonsense" is the ID of no claim`,
		"rows: [{rows: hpc2n Greedy, why: x}]":      "fits no row",
		"rows: [{rows: '(', why: x}]":               "missing closing )",
		"rows: [{rows: .*, of: '(', why: x}]":       "missing closing )",
		"rows: [{rows: .*, ours: smaller, why: x}]": `ours: "smaller", accepted: lower, higher`,
		"other: 1": "field other not found",
	} {
		if _, err := readReasons([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Settings are compared on the same instances with the algorithm without them.
func TestSettingsBeyondThePaperAreJudged(t *testing.T) {
	way := func(settings string, worst ...float64) (rows []fractional.Row) {
		for i, w := range worst {
			rows = append(rows, fraction(fractional.Unscaled, 0, i, recommended+settings, tablePeriod, w))
		}
		return rows
	}
	rows := slices.Concat(way("", 4, 6, 10), way(" decay=1h", 3, 6, 9), way(" decay=2h", 5, 7, 9),
		way(" match=true", 4.001, 6, 10.1), way(" priorities=a:2", 3, 5, 13), way(" decay=9h", 2))
	r := madeDFRS(t, rows)
	var got []string
	for i := range r.study.pairs {
		v := &r.study.pairs[i]
		_, settings := settingsOf(v.way.algorithm)
		got = append(got, settings+" "+v.verdict()+" "+papers.Count(v.n)+" "+papers.Count(v.better)+" "+papers.Count(
			v.worse,
		))
	}
	want := []string{
		"decay=1h helps 3 2 0", "decay=2h harms 3 1 2", "decay=9h helps 1 1 0",
		"match=true no difference 3 0 1", "priorities=a:2 mixed 3 2 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if page := r.Markdown(2, ""); !strings.Contains(page, "- `decay=1h`: helps on unscaled with 600 s (-10.0%).\n") {
		t.Error("the page does not say so")
	}
}

func TestTheReportNamesItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	names, err := madeDFRS(t, shares()).Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var view struct {
		Schema string
		Claims []struct{ ID, Verdict string }
		Off    []struct{ Algorithm string }
		Files  []string
	}
	if err := json.Unmarshal(text, &view); err != nil {
		t.Fatal(err)
	}
	if view.Schema != Schema || len(view.Claims) != len(Claims()) || len(view.Off) == 0 {
		t.Errorf("%s", text)
	}
	if diff := cmp.Diff(append(view.Files, "report.json"), names); diff != "" {
		t.Errorf("files (-in report.json +written):\n%s", diff)
	}
	for _, want := range []string{
		"table-2-hpc2n.csv", "table-2-scaled.md", "table-3-bandwidth.csv", "table-3-job.md", "table-4.csv",
		"table-5.csv", "figure-1-greedy.svg", "figure-3a.png", "figure-3b.csv", "figure-3c.svg", "figure-4.svg",
		"beyond.csv", "report.md",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s", want)
		}
	}
	if slices.Contains(names, "rows.csv") {
		t.Error("rows that are kept elsewhere are written over")
	}
}

func TestClaimIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Claims() {
		if seen[c.ID] || c.Says == "" || c.Test == "" || c.Of == "" {
			t.Errorf("%+v", c.ID)
		}
		seen[c.ID] = true
	}
}
