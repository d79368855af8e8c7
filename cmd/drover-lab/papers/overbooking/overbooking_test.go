package overbooking

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/overbooking/sla"
)

// sale is a row that was never run: of 100 jobs so many are accepted and broken.
func sale(trace, way, maxPoF string, slack int, seed uint64, accepted, broken int) sla.Row {
	const each = 3600 // one processor hour
	sum := func(n int) sla.Sum { return sla.Sum{Jobs: n, Worth: int64(n) * each} }
	return sla.Row{
		Case: sla.Case{Trace: trace, Procs: 1, Slack: slack, Way: way, MaxPoF: maxPoF, Seed: seed},
		Account: sla.Account{
			Offered: sum(100), Accepted: sum(accepted), Kept: sum(accepted - broken), Shortened: sum(broken),
			Useful: int64(accepted-broken) * each, Vain: int64(broken) * each, Span: 200 * each * 1_000_000,
			Counts: overbook.Counts{Overbooked: 4 * broken, Killed: broken},
		},
	}
}

// sales are those of two logs: what is broken grows faster than what is accepted. Without
// overbooking 50 is earned; with 0.1 it is 58-2 (less the penalty of 2), with 0.5 it is
// 70-15.
func sales() []sla.Row {
	var rows []sla.Row
	for _, trace := range []string{"one", "two"} {
		for _, slack := range []int{250, 1000} {
			for _, way := range []string{"empirical", "uniform"} {
				for _, seed := range []uint64{1, 2} {
					rows = append(rows,
						sale(trace, way, "0", slack, seed, 50, 0), sale(trace, way, "0.1", slack, seed, 58, 2),
						sale(trace, way, "0.5",
							slack, seed, 70, 15))
				}
			}
		}
	}
	return rows
}

func TestTheBestMaxPoFIsWhereMostIsLeftAfterPenalties(t *testing.T) {
	r := overbooked(t, sales(), "")
	says := strings.Join(r.Says(), "\n")
	for _, want := range []string{
		"Accepted: 50.0% of the worth and 50.0% of the jobs at maxPoF 0; 58.0% of the worth and 58.0% of the jobs at " +
			"maxPoF 0.1; 70.0%",
		"By jobs that are completed 25.0% of the machine is used without overbooking, 28.0% at maxPoF " +
			"0.1.", // 55 of 200 at 0.5
		"At maxPoF 0.1 the provider breaks 3.45% of the agreements, 3.45% of what is sold; 3.45% of the jobs are lost.",
		"empirical: more fail than are allowed to at maxPoF 0.1.", // a quarter of the overbooked
		"one earns most with maxPoF 0.1: +8.0%; from 0.5 on it earns less than without overbooking.",
		"A penalty of 0.5 times the worth: best with maxPoF 0.1, +10.0%, and a loss from 0.5 on.",
		"A penalty of 10 times the worth: best with maxPoF 0, 0.0%, and a loss from 0.1 on.",
		"uniform: best with maxPoF 0.1, +8.0%.",
		"Windows longer than the estimate by up to 25%: best with maxPoF 0.1, +8.0%.",
	} {
		if !strings.Contains(says, want) {
			t.Errorf("it does not say: %s", want)
		}
	}
	if t.Failed() {
		t.Log(says)
	}
}

func TestTheSameRowsMakeTheSameBytes(t *testing.T) {
	first, err := overbooked(t, sales(), "made up").Files()
	if err != nil {
		t.Fatal(err)
	}
	second, err := overbooked(t, slices.Clone(sales()), "made up").Files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range first {
		names = append(names, first[i].Name)
		if first[i].Name != second[i].Name || !bytes.Equal(first[i].Data, second[i].Data) {
			t.Errorf("%s differs", first[i].Name)
		}
	}
	for _, want := range []string{
		"accepted.svg", "accepted.csv", "utilization.svg", "broken.svg", "failed.svg", "profit.svg", "profit.png",
		"penalty.md", "way.svg", "slack.svg", "rows.csv", "report.md", "report.json",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s", want)
		}
	}
	dir := filepath.Join(t.TempDir(), "report")
	written, err := overbooked(t, sales(), "made up").Write(dir)
	if diff := cmp.Diff(names, written); diff != "" || err != nil {
		t.Errorf("%v, written (-want +got):\n%s", err, diff)
	}
	report := string(first[slices.Index(names, "report.md")].Data)
	if !strings.Contains(report,
		"Runs: 48; logs: one, two; 2 seeds; windows longer than the estimate by up to 25%, up "+
			"to "+
			""+
			""+
			""+
			""+
			""+
			""+
			""+
			"100%. Not the whole: made up.") {
		t.Errorf("the report does not say what it is of:\n%s", report[:300])
	}
}

// Of one log, one slack and no overbooking at all there is still a report.
func TestARowAloneMakesAReport(t *testing.T) {
	r := overbooked(t, []sla.Row{sale("one", "empirical", "0", 1000, 1, 50, 0)}, "")
	if _, err := r.Files(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(r.About(), "Runs: 1; logs: one; 1 seed;") {
		t.Error(r.About())
	}
}

// overbooked makes a report.
func overbooked(t *testing.T, rows []sla.Row, remark string) *Report {
	t.Helper()
	r, err := NewReport(rows, remark)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
