package dfrs

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

func TestThePapersTablesAreComplete(t *testing.T) {
	for _, table := range []struct {
		name       string
		lines      []paperLine
		rows, cols int
	}{{"2", paperTable2, 20, 9}, {"3", paperTable3, 19, 12}, {"4", paperTable4, 3, 3}, {"5", paperTable5, 118, 3}} {
		if len(table.lines) != table.rows {
			t.Errorf("table %s has %d rows", table.name, len(table.lines))
		}
		for _, l := range table.lines {
			if len(l.v) != table.cols {
				t.Errorf("table %s, %s: %d numbers", table.name, l.algorithm, len(l.v))
			}
		}
		names := algorithmsOf(table.lines)
		slices.Sort(names)
		if len(slices.Compact(names)) != table.rows {
			t.Errorf("table %s has a row twice", table.name)
		}
	}
	// What table 2 has of HPC2N table 5 has, too.
	for i := range paperTable2 {
		l := &paperTable2[i]
		k := slices.IndexFunc(paperTable5, func(o paperLine) bool { return o.algorithm == l.algorithm })
		if k < 0 || paperTable5[k].stat(0) != l.stat(0) {
			t.Errorf("%s: tables 2 and 5 do not agree", l.algorithm)
		}
	}
	if got := len(paperRows()); got != 118+20+20 {
		t.Errorf("%d rows of tables 2 and 5", got)
	}
}

// What is run is what is reported: other names would be missing for ever.
func TestTheRunsHaveTheNamesOfThePapersTables(t *testing.T) {
	for _, table := range []struct {
		name string
		runs []string
		own  []paperLine
	}{
		{"2", fractional.Table2, paperTable2},
		{"3", fractional.Table3, paperTable3},
		{"4", fractional.Table4, paperTable4},
		{"5", append([]string{fractional.FCFS, fractional.EASY}, fractional.Table5()...), paperTable5},
	} {
		if diff := cmp.Diff(algorithmsOf(table.own), table.runs); diff != "" {
			t.Errorf("table %s (-paper +runs):\n%s", table.name, diff)
		}
	}
	for _, a := range figureOne() {
		if !slices.Contains(fractional.Table2, a) {
			t.Errorf("figure 1: %s is not run", a)
		}
	}
}

// paperStudy is the paper's own tables as if they were measured.
func paperStudy() *study {
	s := &study{cells: map[key]*cell{}, instances: map[setPart]int{}}
	cell := func(set string, part int, algorithm string) *cell {
		k := key{set, part, algorithm, periodOf(algorithm, tablePeriod)}
		if s.cells[k] == nil {
			s.cells[k] = &cell{}
		}
		return s.cells[k]
	}
	for _, p := range paperRows() {
		cell(p.set, whole, p.algorithm).stats[degradation] = p.stat
	}
	for i := range paperTable3 {
		l := &paperTable3[i]
		c := cell(fractional.Scaled, heavy, l.algorithm)
		for k, cost := range costs {
			v := l.v[4*k:]
			c.stats[cost.preempted], c.stats[cost.migrated] = stat{avg: v[0], max: v[1]}, stat{avg: v[2], max: v[3]}
		}
		c.stats[movedGB] = stat{avg: l.v[0] + l.v[2], max: l.v[1] + l.v[3]}
	}
	for _, l := range paperTable4 {
		for k, set := range sets {
			cell(set.id, whole, l.algorithm).stats[underused].avg = l.v[k]
		}
	}
	return s
}

// What is taken for the paper's words is such that its own tables hold it; its figures
// cannot be read.
func TestThePapersOwnTablesHoldWhatItSays(t *testing.T) {
	inFigures := []string{
		"low-load", "every-load", "load-factor", "underuse-whole", "period-falls", "period-synthetic", "period-real",
		"plateau", "period-stretch", "period-orders", "hour-bandwidth",
	}
	s := paperStudy()
	for _, c := range Claims() {
		want := papers.Holds
		if slices.Contains(inFigures, c.ID) {
			want = papers.Open
		}
		f := c.Check(s)
		t.Logf("%s: %s", c.ID, f.Measured)
		if f.Verdict != want {
			t.Errorf("%s: %s, want %s; %s", c.ID, f.Verdict, want, f.Measured)
		}
	}
	why, err := readReasons(whyText)
	if err != nil {
		t.Fatal(err)
	}
	if off := s.off(why); len(off) != 0 {
		t.Errorf("the paper is off itself: %+v", off)
	}
}

// A claim is wrong where the numbers are turned round: each can fail.
func TestClaimsCanDiffer(t *testing.T) {
	s := paperStudy()
	for k, c := range s.cells {
		for m := range c.stats {
			v := &c.stats[m]
			turned := stat{avg: 20_000 / (1 + v.avg), std: 20_000 / (1 + v.std), max: 20_000 / (1 + v.max)}
			switch {
			case k.algorithm == secondBest || k.algorithm == "/stretch-per/opt=max/minvt=600" ||
				k.algorithm == "GreedyP*/opt=min":
				turned.avg *= 7 // alike no more
			case slices.Contains(greedyStar, k.algorithm):
				turned.avg *= 1.5
			case k.algorithm == "/per/opt=min/minvt=300" || k.algorithm == "/stretch-per/opt=max/minvt=300":
				turned.avg /= 2
			}
			*v = turned
		}
	}
	for _, c := range Claims() {
		if f := c.Check(s); f.Verdict == papers.Holds {
			t.Errorf("%s holds all the same: %s", c.ID, f.Measured)
		}
	}
}
