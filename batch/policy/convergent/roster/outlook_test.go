package roster_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/edf"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// crowd returns a roster after one pass over machines and jobs.
func crowd(t testing.TB, p batch.Platform, jobs []batch.Job) *roster.Roster {
	r, err := roster.New(p, edf.New(edf.How{}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].Handle = batch.Handle(i + 1)
		r.Apply(0, &batch.Event{Kind: batch.Submit, Job: jobs[i].Handle, Spec: &jobs[i]})
	}
	var out batch.Decisions
	r.Decide(0, &out)
	return r
}

func cad(copies int32) []batch.License { return []batch.License{{Name: "cad", Copies: copies}} }

// Job 1 runs on the fast machine until 50, job 2 on the slow one until 30; job 3 has a deadline
// and would preempt job 1, which could then end at 60.
func TestAnOutlookByHand(t *testing.T) {
	p := batch.Platform{
		Nodes:    []batch.Node{{Name: "a", Processors: 2, Score: 200}, {Name: "b", Processors: 1, Score: 100}},
		Licenses: []batch.LicensePool{{Name: "cad", Copies: 2}},
	}
	job := func(seconds int64, deadline batch.Time, l ...batch.License) batch.Job {
		return batch.Job{
			Shape: batch.Shape{Width: 1, Walltime: batch.Duration(seconds) * batch.Second}, Reference: 100,
			Deadline: deadline, Licenses: l,
		}
	}
	s := batch.Time(batch.Second)
	r := crowd(t, p, []batch.Job{job(100, 0, cad(1)...), job(30, 0)})
	one, two, three := job(20, 40*s), job(20, 0), job(20, 0, cad(2)...)
	late, wide, never := job(20, 0), job(20, 0), job(20, 0, batch.License{Name: "none", Copies: 1})
	asks := []batch.Ask{
		{Job: &one, Shapes: []batch.Shape{
			{Width: 1, Walltime: 20 * batch.Second}, {Width: 2, Walltime: 10 * batch.Second},
		}},
		{Job: &two, Shapes: []batch.Shape{{Width: 1, Walltime: 20 * batch.Second}}},
		{Job: &three, Shapes: []batch.Shape{{Width: 1, Walltime: 20 * batch.Second}}},
		{Job: &late, Shapes: []batch.Shape{{Width: 1, Walltime: 20 * batch.Second}}, From: 70 * s},
		{Job: &wide, Shapes: []batch.Shape{
			{Width: 2, Walltime: 20 * batch.Second}, {Width: 3, Walltime: batch.Second},
		}},
		{Job: &never, Shapes: []batch.Shape{{Width: 1, Walltime: 20 * batch.Second}}},
	}
	out := make([]batch.Estimate, len(asks))
	r.Look(0, asks, out)
	got := ""
	for i := range out {
		for k := range out[i].Starts {
			if out[i].Starts[k] == batch.Never {
				got += "never "
				continue
			}
			got += fmt.Sprintf("%v-%v ", float64(out[i].Starts[k])/1e6, float64(out[i].Ends[k])/1e6)
		}
		got += "| "
		if out[i].Kind != batch.Forecast {
			t.Errorf("%v", out[i].Kind)
		}
	}
	if want := "0-10 0-5 | 30-50 | 50-60 | 70-80 | 50-60 never | never | "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// With equal machines and a fixed order of jobs, an outlook equals a forward run of the policy.
func TestAnOutlookIsExactWithoutPreemption(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := batch.Processors(int32(rapid.IntRange(1, 4).Draw(t, "machines")))
		jobs := make([]batch.Job, rapid.IntRange(0, 12).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i].Shape = batch.Shape{
				Width: 1, Walltime: batch.Duration(rapid.IntRange(1, 50).Draw(t, "walltime")) * batch.Second,
			}
		}
		r := crowd(new(testing.T), p, jobs)
		ask := batch.Job{}
		asks := []batch.Ask{{Job: &ask, Shapes: []batch.Shape{{Width: 1, Walltime: 10 * batch.Second}}}}
		want, got := make([]batch.Estimate, 1), make([]batch.Estimate, 1)
		if !new(forecast.Forecaster).Estimate(0, r, asks, want) {
			t.Fatal("no forecast")
		}
		r.Look(0, asks, got)
		if want[0].Starts[0] != got[0].Starts[0] || want[0].End(0, 0) != got[0].End(0, 0) {
			t.Errorf("%+v, want %+v", got, want)
		}
		if len(jobs) > 0 {
			asks[0].Job = &jobs[len(jobs)-1]
			new(forecast.Forecaster).Estimate(0, r, asks, want)
			r.Look(0, asks, got)
			if want[0].Starts[0] != batch.Never && want[0].Starts[0] != got[0].Starts[0] {
				t.Errorf("waiting job: %+v, want %+v", got, want)
			}
		}
	})
}

// A thousand machines and ten thousand jobs: a forward run took minutes.
func TestEstimatesOfALongQueueAreFast(t *testing.T) {
	jobs := make([]batch.Job, 10_000)
	for i := range jobs {
		jobs[i].Shape = batch.Shape{Width: 1, Walltime: batch.Hour}
		if i%3 > 0 {
			jobs[i].Deadline = batch.Time(i) * batch.Time(batch.Minute)
		}
	}
	r := crowd(t, batch.Processors(1000), jobs)
	var ask batch.Job
	begin := time.Now()
	out := make([]batch.Estimate, 1)
	if r.Estimate(0, []batch.Ask{{Job: &ask, Shapes: []batch.Shape{{Width: 1, Walltime: batch.Hour}}}}, out) != nil ||
		out[0].Starts[0] != 10*batch.Time(batch.Hour) {
		t.Errorf("%+v", out)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
