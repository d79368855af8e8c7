package bench

import (
	"math"
	"testing"
	"time"
)

var epoch = time.Unix(1_700_000_000, 0)

// ran makes a run that has ended, from seconds after the epoch.
func ran(id string, cluster, width int, submitted, begun, ended float64) Run {
	at := func(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }
	return Run{
		Job: Job{
			ID: id, Cluster: cluster, Width: width, Runtime: at(ended).Sub(at(begun)), Walltime: 2 * time.Minute,
		},
		Submitted: at(submitted), Begun: at(begun), Ended: at(ended), Times: 1,
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestFiguresSumUpTheJobsOfOneOrigin(t *testing.T) {
	runs := []Run{ran("a", Anywhere, 2, 0, 10, 20), ran("b", Anywhere, 1, 0, 0, 40), ran("c", 1, 4, 5, 5, 10)}
	runs[0].Moves = 2
	f := FiguresOf(runs, OfGrid)
	if f.Jobs != 2 || f.Moves != 2 || f.MovedAtLeast != 1 || !near(f.WaitMean, 5) {
		t.Errorf("%+v", f)
	}
	if !near(f.Response.Mean, 30) || !near(f.Response.P95, 40) || !near(f.Slowdown.Mean, 1.5) ||
		!near(f.Slowdown.P95, 2) {
		t.Errorf("%+v", f)
	}
	if l := FiguresOf(runs, OfLocals); l.Jobs != 1 || !near(l.Response.Mean, 5) {
		t.Errorf("of local users: %+v", l)
	}
	if m := Makespan(runs); m != 40*time.Second {
		t.Errorf("makespan %v", m)
	}
	if u := Utilization(runs, 4); !near(u, (2*10+40+4*5)/160.0) {
		t.Errorf("utilization %v", u)
	}
}

func TestFiguresOfNoJobsAreZero(t *testing.T) {
	if f := FiguresOf(nil, OfGrid); f != (Figures{}) {
		t.Errorf("%+v", f)
	}
	if Makespan(nil) != 0 || Utilization(nil, 4) != 0 {
		t.Error("there is a makespan without jobs")
	}
	if r := RatiosOf(&Figures{}, &Figures{}); r != (Ratios{}) {
		t.Errorf("%+v", r)
	}
	if e := EstimatesOf(nil); e != (Estimates{}) {
		t.Errorf("%+v", e)
	}
}

func TestARatioIsTheFirstOverTheSecond(t *testing.T) {
	a := Figures{Response: Distribution{Mean: 50, P95: 90}, Slowdown: Distribution{Mean: 1, P95: 3}}
	b := Figures{Response: Distribution{Mean: 100, P95: 100}, Slowdown: Distribution{Mean: 2, P95: 2}}
	r := RatiosOf(&a, &b)
	if !near(r.ResponseMean, 0.5) || !near(r.ResponseP95, 0.9) || !near(r.SlowdownMean, 0.5) ||
		!near(r.SlowdownP95, 1.5) {
		t.Errorf("%+v", r)
	}
	if s := SpreadOf([]float64{0.5, 2, 1}); !near(s.GeometricMean, 1) || s.Min != 0.5 || s.Max != 2 {
		t.Errorf("%+v", s)
	}
}

func TestEstimatesCountJobsThatDidNotMove(t *testing.T) {
	says := func(r Run, test, forecast float64) Run {
		r.Test, r.Forecast = epoch.Add(time.Duration(test)*time.Second), epoch.Add(time.Duration(forecast)*time.Second)
		r.Expected = r.Forecast.Add(r.Job.Walltime)
		return r
	}
	runs := []Run{
		says(ran("early", Anywhere, 1, 0, 10, 130), 40, 10),
		says(ran("late", Anywhere, 1, 0, 30, 150), 20, 24),
		says(ran("moved", Anywhere, 1, 0, 500, 900), 1, 1),
		ran("unsaid", 0, 1, 0, 70, 90),
	}
	runs[2].Moves = 1
	e := EstimatesOf(runs)
	if e.TestStart != (Errors{Jobs: 2, Bias: -10, P50: 10, P90: 30}) {
		t.Errorf("test-only: %+v", e.TestStart)
	}
	if e.DroverStart != (Errors{Jobs: 2, Bias: 3, P50: 0, P90: 6}) {
		t.Errorf("Drover: %+v", e.DroverStart)
	}
	// Both ran as long as their walltimes.
	if e.DroverEnd != e.DroverStart || e.TestEnd != e.TestStart {
		t.Errorf("ends: %+v", e)
	}
	if got := TestErrors(runs); got != e.TestStart {
		t.Errorf("alone: %+v", got)
	}
}
