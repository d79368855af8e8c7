package growth_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/growth"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// clock moves by a millisecond each time it is read.
func clock() func() time.Duration {
	var now time.Duration
	return func() time.Duration { now += time.Millisecond; return now }
}

// A round that knows which jobs are alike asks less and moves as many.
func TestARoundThatKnowsLikeJobsMovesTheSameJobs(t *testing.T) {
	for a := reallocation.Regular; a <= reallocation.AllCancellation; a++ {
		c := growth.Case{
			Sites: 6, Jobs: 500, Algorithm: a, Heuristic: reallocation.MinMin, Window: reallocation.All, Seed: 1,
		}
		unlike, ok, err := growth.Measure(t.Context(), c, clock(), time.Hour)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		c.Alike = true
		alike, ok, err := growth.Measure(t.Context(), c, clock(), time.Hour)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if alike.Record.Moves != unlike.Record.Moves || alike.Record.Gain != unlike.Record.Gain ||
			alike.Record.Moves == 0 {
			t.Errorf("%v: %+v, %+v", a, alike.Record, unlike.Record)
		}
		if alike.Record.Estimates >= unlike.Record.Estimates {
			t.Errorf("%v: %d estimates, without that knowledge %d", a, alike.Record.Estimates, unlike.Record.Estimates)
		}
	}
}

// Each step takes one millisecond of this clock, and there is one before each.
func TestTheTimeOfTheHeuristicIsThatBetweenTheSteps(t *testing.T) {
	c := growth.Case{Sites: 3, Jobs: 50, Heuristic: reallocation.MCT, Window: 20, Seed: 1}
	row, ok, err := growth.Measure(t.Context(), c, clock(), time.Hour)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	steps := time.Duration(row.Record.Asks+row.Record.Moves) * time.Millisecond
	if row.Total != 2*steps+time.Millisecond || row.Own != steps+time.Millisecond {
		t.Errorf("total %v, own %v, steps %v", row.Total, row.Own, steps)
	}
	if _, ok, err = growth.Measure(t.Context(), c, clock(), 3*time.Millisecond); ok || err != nil {
		t.Errorf("a round that takes longer than its limit: %v, %v", ok, err)
	}
}

func TestATableHasAFieldForEachColumn(t *testing.T) {
	var out bytes.Buffer
	table, err := growth.NewTable(&out)
	if err != nil {
		t.Fatal(err)
	}
	row := growth.Row{
		Case: growth.Case{
			Sites: 3, Jobs: 10, Algorithm: reallocation.AllCancellation, Heuristic: reallocation.Sufferage,
			Window: reallocation.All, Alike: true,
		},
		Record: reallocation.Record{
			Asks: 1, Questions: 2, Estimates: 3,
			Moves: 4,
		}, Total: 1500 * time.Millisecond, Own: time.Second, Heap: 5,
	}
	if err := table.Write(&row); err != nil {
		t.Fatal(err)
	}
	want := strings.Join(growth.Columns, ",") + "\n" + growth.Schema +
		",3,10,all-cancellation,sufferage,all,true,1.500000,1.000000,5,1,2,3,4\n"
	if out.String() != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
}

func TestACaseBeyondTheLimitsIsRefused(t *testing.T) {
	for _, c := range []growth.Case{
		{Sites: 0, Jobs: 1},
		{Sites: 1001, Jobs: 1},
		{Sites: 1, Jobs: 0},
		{Sites: 1, Jobs: 1_000_001},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v", c)
		}
	}
}
