package dynp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/paperstest"
)

// likePaper makes up runs that come out as the paper's under one way, and the farther
// away the farther their way is in the list.
func likePaper(traces []Trace, quick bool, like dynpWay) map[Run]*Figures {
	runs := map[Run]*Figures{}
	put := func(r Run, sldwa float64) {
		runs[r] = &Figures{
			Jobs: 1000, SLDwA: sldwa, Utilization: 0.68716, Steps: 200,
			Policies: []Policy{{"FCFS", 10, 250}, {"SJF", 8, 500}, {"LJF", 2, 250}},
			Cases:    []Case{{"SJF", []string{"FCFS", "SJF"}, 150}, {"FCFS", []string{"FCFS"}, 50}},
		}
	}
	at := func(w dynpWay) (i int) {
		for i = range dynpWays {
			if dynpWays[i] == w {
				break
			}
		}
		return i
	}
	for _, r := range Runs(traces, quick) {
		put(r, 1) // of the basic ones: overwritten below
	}
	for _, t := range traces {
		for i, p := range basics {
			put(basic(t.Name, p), paperBasics[t.Name][i])
		}
		for _, w := range dynpWays {
			away := 1 + 0.01*float64((at(w)-at(like))*(at(w)-at(like)))
			if _, run := runs[w.run(t.Name, "simple", sldwa, true)]; !run {
				continue
			}
			for i, m := range measures {
				put(w.run(t.Name, "advanced", m, false), away*paperMetrics[t.Name][i])
			}
			for i, d := range deciders {
				for k, half := range []bool{true, false} {
					put(w.run(t.Name, d, sldwa, half), away*paperDeciders[t.Name][i][k])
				}
			}
		}
	}
	return runs
}

func TestTheClosestToleranceIsThatWithThePapersFigures(t *testing.T) {
	for _, like := range dynpWays {
		if like.shared {
			continue
		}
		s := &study{Traces, likePaper(Traces, false, like)}
		got, ok := s.closestTolerance()
		if !ok || got != like {
			t.Errorf("closest is %v, want %v", got, like)
		}
		if mean, ok := s.overall(like); !ok || mean > 1e-12 {
			t.Errorf("%s is off by %v", like.name, mean)
		}
	}
}

// The golden files were written by another process.
func TestTheSameRunsMakeTheSameBytes(t *testing.T) {
	traces := Traces[:2]
	r := NewReport(traces, likePaper(traces, false, dynpWays[5]), false)
	list, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		switch f.Name {
		case "report.md", "equal-kth.svg", "table-4.csv":
		default:
			continue
		}
		path := filepath.Join("testdata", f.Name)
		if *paperstest.Rewrite {
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Data, want) {
			t.Errorf("%s differs; look at it after -rewrite:\n%s", path,
				cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(f.Data), "\n")))
		}
	}
}

func TestTheReportNamesItsRunsAndFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	traces := Traces[2:]
	names, err := NewReport(traces, likePaper(traces, true, exactWay), true).Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var view struct {
		Schema string
		Runs   []struct {
			Policies, Decider string
			SLDwA             float64 `json:"slowdown_area_weighted"`
		}
		Files []string
	}
	if err := json.Unmarshal(text, &view); err != nil {
		t.Fatal(err)
	}
	if view.Schema != Schema || len(view.Runs) != len(Runs(traces, true)) || view.Runs[2].Policies != "LJF" ||
		view.Runs[2].SLDwA != 26.8207 {
		t.Errorf("%s", text)
	}
	if diff := cmp.Diff(append(view.Files, "report.json"), names); diff != "" {
		t.Errorf("files (-in report.json +written):\n%s", diff)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".svg") {
			t.Errorf("a quick report has the picture %s, of a few tolerances", name)
		}
	}
}

// Every table of the paper has a figure for every trace and setting.
func TestThePapersTablesAreComplete(t *testing.T) {
	for _, trace := range Traces {
		if len(paperBasics[trace.Name]) != len(basics) || len(paperMetrics[trace.Name]) != len(measures) ||
			len(paperUtilization[trace.Name]) != len(measures) || len(paperDeciders[trace.Name]) != len(deciders) {
			t.Errorf("%s lacks figures", trace.Name)
		}
		// Table 3's SLDwA is table 4's advanced full one, and ARTwW's by equation 2.
		if paperMetrics[trace.Name][4] != paperDeciders[trace.Name][1][1] ||
			paperMetrics[trace.Name][2] != paperMetrics[trace.Name][4] {
			t.Errorf("%s: tables 3 and 4 do not agree", trace.Name)
		}
	}
}
