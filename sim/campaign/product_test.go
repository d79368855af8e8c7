package campaign

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExperimentsComeInTheOrderOfTheListsWithTheirReferenceFirst(t *testing.T) {
	c := parsed(t, `version: 1
name: n
scenarios: [b, a]
seeds: [2, 1]
dedicated: [true, false]
heuristics: [minmin]
periods: [2h, 1h]
`)
	var got []string
	for _, e := range c.Experiments() {
		got = append(got, strings.Join(e.Key[:9], " "))
	}
	const want = `b false true exhaustive 2 none   
b false true exhaustive 2 regular minmin 20 7200
b false true exhaustive 2 regular minmin 20 3600
b false true exhaustive 1 none   
b false true exhaustive 1 regular minmin 20 7200
b false true exhaustive 1 regular minmin 20 3600
b false false exhaustive 2 none   
b false false exhaustive 2 regular minmin 20 7200
b false false exhaustive 2 regular minmin 20 3600
b false false exhaustive 1 none   
b false false exhaustive 1 regular minmin 20 7200
b false false exhaustive 1 regular minmin 20 3600`
	if d := cmp.Diff(want, strings.Join(got[:12], "\n")); d != "" {
		t.Error(d)
	}
	if len(got) != 24 || got[12] != "a false true exhaustive 2 none   " {
		t.Errorf("%d experiments, the 13th is %q", len(got), got[12])
	}
}

func TestRepeatedExperimentsAreLeftOut(t *testing.T) {
	c := parsed(t, `version: 1
name: n
scenarios: [a]
seeds: [1]
algorithms: [regular, all-cancellation]
heuristics: [mct, minmin]
windows: [20, all]
thresholds: [60s, 1.5s]
patience: [off, 3]
`)
	var got []string
	for _, w := range c.ways() {
		e := Experiment{Reallocation: w}
		_, way, _ := strings.Cut(e.String(), "regular")
		if way == "" {
			_, way, _ = strings.Cut(e.String(), "all-cancellation")
		}
		got = append(got, w.Algorithm.String()+way)
	}
	want := []string{
		"regular, mct, window 20, period 1h0m0s, threshold 1m0s, patience off",
		"regular, mct, window 20, period 1h0m0s, threshold 1.5s, patience off",
		"regular, minmin, window 20, period 1h0m0s, threshold 1m0s, patience off",
		"regular, minmin, window 20, period 1h0m0s, threshold 1.5s, patience off",
		"regular, minmin, window all, period 1h0m0s, threshold 1m0s, patience off",
		"regular, minmin, window all, period 1h0m0s, threshold 1.5s, patience off",
		"all-cancellation, mct, window 20, period 1h0m0s, threshold 1m0s, patience off",
		"all-cancellation, mct, window 20, period 1h0m0s, threshold 1m0s, patience 3",
		"all-cancellation, minmin, window 20, period 1h0m0s, threshold 1m0s, patience off",
		"all-cancellation, minmin, window 20, period 1h0m0s, threshold 1m0s, patience 3",
		"all-cancellation, minmin, window all, period 1h0m0s, threshold 1m0s, patience off",
		"all-cancellation, minmin, window all, period 1h0m0s, threshold 1m0s, patience 3",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestQuickLeavesASmallPartAndSaysWhatItCuts(t *testing.T) {
	c, err := Load("full")
	if err != nil {
		t.Fatal(err)
	}
	q, cuts := c.Quick()
	want := []string{
		"the first 14 days of each scenario", "1 of 10 seeds", "1 of 2 homogeneous", "2 of 5 periods",
		"2 of 13 scenarios", "2 of 6 heuristics",
	}
	if d := cmp.Diff(want, cuts); d != "" || q.Days != quickDays || q.count() > quickExperiments {
		t.Errorf("%d days, %d experiments\n%s", q.Days, q.count(), d)
	}
	if c.Days != 0 || len(c.Experiments()) != 86_320 {
		t.Errorf("the campaign itself was cut: %d days, %d experiments", c.Days, len(c.Experiments()))
	}
	if c, err = Load("paper"); err != nil {
		t.Fatal(err)
	}
	if q, cuts = c.Quick(); len(cuts) != 2 || q.count() != 70 {
		t.Errorf("of the paper's campaign %d experiments are left, without %q", q.count(), cuts)
	}
}
