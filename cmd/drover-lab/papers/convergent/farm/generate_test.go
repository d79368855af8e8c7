package farm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

func mustGenerate(t testing.TB, m Model, seed int) *Instance {
	t.Helper()
	in, err := Generate(m, seed)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// mean returns the mean of a value of all elements, and checks their range.
func mean[T any](t *testing.T, name string, all []T, low, high float64, of func(*T) float64) float64 {
	t.Helper()
	sum := 0.0
	for i := range all {
		v := of(&all[i])
		if v < low || v > high {
			t.Errorf("%s: %v is outside of %v..%v", name, v, low, high)
		}
		sum += v
	}
	return sum / float64(len(all))
}

func TestValuesAreDrawnEvenlyFromTheRangesOfThePaper(t *testing.T) {
	in := mustGenerate(t, Paper(10), 1)
	near := func(name string, got, want, by float64) {
		if math.Abs(got-want) > by {
			t.Errorf("%s: mean %.3f, want %.3f within %.3f", name, got, want, by)
		}
	}
	if len(in.Machines) != 150 || len(in.Copies) != 20 || len(in.Jobs) != 1500 {
		t.Fatalf("%d machines, %d licenses, %d jobs", len(in.Machines), len(in.Copies), len(in.Jobs))
	}
	near("score", mean(t, "score", in.Machines, 200, 600, func(m *Machine) float64 { return float64(m.Score) }), 400,
		40)
	near("CPUs", mean(t, "CPUs", in.Machines, 1, 8, func(m *Machine) float64 { return float64(m.CPUs) }), 4.5, 0.8)
	near("suitable", mean(t, "suitable", in.Machines, 0, 20,
		func(m *Machine) float64 { return float64(len(m.Licenses)) }), 18, 0.4)
	near("copies", mean(t, "copies", in.Copies, 60, 97, func(n *int32) float64 { return float64(*n) }), 0.6*0.9*150, 5)
	near("estimate", mean(t, "estimate", in.Jobs, 500, 3000, func(j *Job) float64 { return units(j.Estimate) }), 1750,
		70)
	near("reference", mean(t, "reference", in.Jobs, 200, 600, func(j *Job) float64 { return float64(j.Reference) }),
		400,
		12)
	near("CPUs of jobs", mean(t, "CPUs of jobs", in.Jobs, 1, 8, func(j *Job) float64 { return float64(j.CPUs) }), 4.5,
		0.25)
	near("licenses", mean(t, "licenses", in.Jobs, 0, 20, func(j *Job) float64 { return float64(len(j.Licenses)) }), 4,
		0.2)
	near("input", mean(t, "input", in.Jobs, 100e6, 800e6, func(j *Job) float64 { return float64(j.Input) }), 450e6,
		20e6)
	near("place", mean(t, "place", in.Jobs, 0, 149, func(j *Job) float64 { return float64(j.Place) }), 74.5, 5)
	dated := 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if _, fastest := in.scores(j); fastest == 0 {
			t.Errorf("job %d fits nowhere", i)
		}
		if j.Deadline != 0 {
			dated++
			if slack := float64(j.Deadline.Sub(j.Submit))/float64(j.Estimate) - 1; slack < 0.25 || slack > 1.5 {
				t.Errorf("job %d has a slack of %v", i, slack)
			}
		}
	}
	near("dated", float64(dated)/1500, 0.7, 0.04)
	near("gap", units(in.Jobs[1499].Submit.Sub(0))/1500, 10, 0.8)
}

func TestASeedHasTheSameJobsAtEveryLoad(t *testing.T) {
	a, b := mustGenerate(t, Paper(4), 3), mustGenerate(t, Paper(20), 3)
	for i := range a.Jobs {
		x, y := a.Jobs[i], b.Jobs[i]
		if d := 5*x.Submit - y.Submit; d > 3*1500 || d < -3*1500 { // each gap is rounded
			t.Fatalf("job %d comes at %d and at %d", i, x.Submit, y.Submit)
		}
		if x.Deadline != 0 {
			x.Deadline -= x.Submit
			y.Deadline -= y.Submit
		}
		x.Submit, y.Submit = 0, 0
		if diff := cmp.Diff(x, y); diff != "" {
			t.Fatal(diff)
		}
	}
	if diff := cmp.Diff(a.Machines, b.Machines); diff != "" {
		t.Error(diff)
	}
	if !cmp.Equal(a, mustGenerate(t, Paper(4), 3)) {
		t.Error("the same seed is not the same")
	}
	if c := mustGenerate(t, Paper(4), 4); cmp.Equal(a.Machines, c.Machines) || cmp.Equal(a.Jobs, c.Jobs) {
		t.Error("another seed is the same")
	}
}

func TestTheRunStartsWithTheBacklog(t *testing.T) {
	c := Case{Set: Growth, Arrival: 10, Machines: 10, Licenses: 2, Jobs: 100, Ratio: Range{55, 65}, Reading: Percent}
	in := mustGenerate(t, c.Model(), 1)
	for i := range in.Jobs {
		if early := i < 100-Later; early != (in.Jobs[i].Submit == 0) {
			t.Errorf("job %d comes at %d", i, in.Jobs[i].Submit)
		}
	}
}

// The job takes 1000 units on its own machine of score 300, so 600 on the fastest and 1500
// on the slowest one that can run it.
func TestEachReadingOfDeadlinesByHand(t *testing.T) {
	in := &Instance{Machines: []Machine{{Score: 500, CPUs: 4}, {Score: 200, CPUs: 4}, {Score: 100, CPUs: 1}}}
	j := Job{Submit: batch.Time(7 * Unit), Estimate: 1000 * Unit, Reference: 300, CPUs: 2}
	for reading, want := range map[Reading]int64{
		Percent: 1400, Units: 1040, OfEstimate: 400, Earliest: 640,
		Slowest: 2100,
	} {
		got := reading.deadline(in, &j, 40)
		if got != j.Submit.Add(batch.Duration(want)*Unit) {
			t.Errorf("%s: %v after submission, want %d", reading, got.Sub(j.Submit), want)
		}
		j.Deadline = got
		if hopeless := in.Hopeless(&j); hopeless != (want < 600) {
			t.Errorf("%s: hopeless %t", reading, hopeless)
		}
	}
}

func TestBadModelsAreRefusedFieldByField(t *testing.T) {
	for field, spoil := range map[string]func(*Model){
		"machines: 0":               func(m *Model) { m.Machines = 0 },
		"licenses: -1":              func(m *Model) { m.Licenses = -1 },
		"jobs: -1":                  func(m *Model) { m.Jobs = -1 },
		"estimate: 0..5":            func(m *Model) { m.Estimate = Range{0, 5} },
		"deadline: 9..5":            func(m *Model) { m.Deadline = Range{9, 5} },
		"CPUs: 0..1":                func(m *Model) { m.CPUs = Range{0, 1} },
		"benchmark: 0..600":         func(m *Model) { m.Benchmark = Range{0, 600} },
		"input: -1..1":              func(m *Model) { m.Input = Range{-1, 1} },
		"license ratio: 0..101":     func(m *Model) { m.Ratio = Range{0, 101} },
		"license suitability: 101":  func(m *Model) { m.Suitability = 101 },
		"licenses needed: -1":       func(m *Model) { m.Needed = -1 },
		"jobs without deadline: -1": func(m *Model) { m.Undated = -1 },
		"inter-arrival: 0":          func(m *Model) { m.Arrival = 0 },
		"backlog: 1501":             func(m *Model) { m.Backlog = 1501 },
		"reading of deadlines":      func(m *Model) { m.Reading = "soon" },
	} {
		m := Paper(10)
		spoil(&m)
		if _, err := Generate(m, 1); err == nil || !strings.HasPrefix(err.Error(), field) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", field, err)
		}
	}
	m := Paper(10)
	m.Needed, m.Suitability = 100, 0
	if _, err := Generate(m, 1); !errors.As(err, new(*UnfitError)) {
		t.Errorf("jobs that fit nowhere: %v", err)
	}
}

func TestAnyModelGivesAFarmThatAPolicyAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Paper(rapid.IntRange(1, 50).Draw(t, "arrival"))
		m.Machines = rapid.IntRange(1, 10).Draw(t, "machines")
		m.Licenses = rapid.IntRange(0, 5).Draw(t, "licenses")
		m.Jobs = rapid.IntRange(0, 20).Draw(t, "jobs")
		m.Reading = rapid.SampledFrom(Readings).Draw(t, "reading")
		in, err := Generate(m, rapid.IntRange(0, 1000).Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Platform().Validate(); err != nil {
			t.Fatal(err)
		}
		for i, copies := range in.Copies {
			if copies < 1 || int(copies) > max(1, m.Machines) {
				t.Errorf("%d copies of license %d", copies, i)
			}
		}
		for i := range in.Jobs {
			if i > 0 && in.Jobs[i].Submit < in.Jobs[i-1].Submit {
				t.Error("jobs are not in order of submission")
			}
		}
	})
}
