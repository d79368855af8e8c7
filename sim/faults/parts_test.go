package faults

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestEventsHappenInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var got, want []int
		at := rapid.SliceOfN(rapid.Int64Range(0, 5), 1, 40).Draw(t, "instants")
		for i, x := range at {
			q.add(batch.Time(x), func() { got = append(got, i) })
			want = append(want, i)
		}
		slices.SortStableFunc(want, func(i, k int) int { return int(at[i] - at[k]) })
		for q.next() != batch.Never {
			x := q.pop()
			x.do()
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestClockReachesTheInstantThatItPredicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{
			from:  batch.Time(rapid.Int64Range(0, 1<<40).Draw(t, "from")),
			shows: batch.Time(rapid.Int64Range(0, 1<<50).Draw(t, "shows")), rate: rapid.Int64Range(900, 1200).Draw(t,
				"rate"),
		}
		due := c.shows + batch.Time(rapid.Int64Range(0, 1<<40).Draw(t, "due"))
		at := c.when(due)
		if c.read(at) < due || at > c.from && c.read(at-1) >= due {
			t.Fatalf("%+v shows %d first at %d, and %d a moment before", c, due, at, c.read(at-1))
		}
	})
}

func TestTraceFoldsRepeatedLines(t *testing.T) {
	var tr trace
	for i := range 1000 {
		tr.add(batch.Time(i), nil, &jobTruth{n: 1}, "asks")
		tr.add(batch.Time(i), nil, &jobTruth{n: 1}, "is answered")
		tr.add(batch.Time(i), nil, &jobTruth{n: 2}, "is another job")
	}
	text := tr.text(&jobTruth{n: 1})
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "asks (again, 999 times until 0.000999)") ||
		strings.Contains(text, "another") {
		t.Error(text)
	}
}

func TestPlantsAreFoundByName(t *testing.T) {
	for _, p := range Plants() {
		if got, err := ParsePlant(p.String()); got != p || err != nil {
			t.Errorf("%v: %v %v", p, got, err)
		}
	}
	if _, err := ParsePlant("x"); err == nil || !strings.Contains(err.Error(), "no-withdraw") {
		t.Error(err)
	}
}
