package dfrs_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// asked returns the estimated start and end of a job of one shape, in whole seconds.
func asked(t *testing.T, now batch.Time, p *dfrs.Policy, spec *batch.Job) [2]batch.Time {
	t.Helper()
	var f forecast.Forecaster
	out := make([]batch.Estimate, 1)
	if !f.Estimate(now, p, []batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}, out) ||
		out[0].Kind != batch.Forecast {
		t.Fatalf("%+v", out)
	}
	return [2]batch.Time{out[0].Starts[0] / second, out[0].End(0, spec.Shape.Walltime) / second}
}

func submit(now batch.Time, p *dfrs.Policy, h batch.Handle, memory int64, walltime batch.Duration) *batch.Job {
	spec := &batch.Job{
		Handle: h, CPU: batch.One, Memory: memory, Shape: batch.Shape{Width: 1, Walltime: walltime * batch.Second},
	}
	p.Apply(now, &batch.Event{Kind: batch.Submit, Job: h, Spec: spec})
	return spec
}

// Jobs 1 and 2 share the node, and 3 has no memory until 1 ends, at 20. It then shares with 2,
// which has half of its 20 s left, and ends after 10 s instead of the 5 s of its walltime.
func TestTheForecastEndOfAWaitingJobCountsSharing(t *testing.T) {
	p := policy(t, cluster(1, 10), batch.Settings{"algorithm": "Greedy*"})
	submit(0, p, 1, 6, 10)
	submit(0, p, 2, 3, 20)
	waits := submit(0, p, 3, 6, 5)
	p.Decide(0, &batch.Decisions{})
	if got, want := asked(t, 0, p, waits), [2]batch.Time{20, 30}; got != want {
		t.Errorf("from %d to %d, want from %d to %d", got[0], got[1], want[0], want[1])
	}
}

// At 5 job 1 must leave for job 2, and has not left yet. The forecast assumes that it leaves.
func TestAForecastAssumesThatPausedJobsLeave(t *testing.T) {
	p := policy(t, cluster(1, 10), batch.Settings{"algorithm": "GreedyP*"})
	submit(0, p, 1, 8, 100)
	p.Decide(0, &batch.Decisions{})
	waits := submit(5*second, p, 2, 8, 10)
	p.Decide(5*second, &batch.Decisions{})
	if got, want := asked(t, 5*second, p, waits), [2]batch.Time{5, 15}; got != want {
		t.Errorf("from %d to %d, want from %d to %d", got[0], got[1], want[0], want[1])
	}
}

// Job 1 is paused for 2 at 5, and resumed when 2 ends, at 25. The driver has not confirmed that
// yet, but the forecast assumes it: 1 has 95 s left, 3 has 10, and the job of the ask 500.
func TestAForecastAssumesThatResumedJobsRun(t *testing.T) {
	p := policy(t, cluster(1, 10), batch.Settings{"algorithm": "GreedyP*"})
	submit(0, p, 1, 8, 100)
	p.Decide(0, &batch.Decisions{})
	submit(5*second, p, 2, 8, 10)
	submit(5*second, p, 3, 1, 20)
	p.Decide(5*second, &batch.Decisions{})
	p.Apply(5*second, &batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
	p.Decide(5*second, &batch.Decisions{})
	p.Apply(25*second, &batch.Event{Kind: batch.Finish, Job: 2})
	p.Decide(25*second, &batch.Decisions{})
	waits := submit(25*second, p, 4, 1, 500)
	if got, want := asked(t, 25*second, p, waits), [2]batch.Time{25, 630}; got != want {
		t.Errorf("from %d to %d, want from %d to %d", got[0], got[1], want[0], want[1])
	}
}

// The forecast is the same for a submitted job and for an ask, while other jobs run, wait,
// leave or move. Job 2 replaces 1 at 5 and shares with 3 until 25; then 1 continues beside 3,
// which ends at 45. By then 1 has done 15 of its 100 s, and ends after another 85.
func TestAResumedJobMakesProgressInAForecast(t *testing.T) {
	p := policy(t, cluster(1, 10), batch.Settings{"algorithm": "GreedyP*"})
	first := submit(0, p, 1, 8, 100)
	p.Decide(0, &batch.Decisions{})
	submit(5*second, p, 2, 8, 10)
	submit(5*second, p, 3, 1, 20)
	p.Decide(5*second, &batch.Decisions{})
	p.Apply(5*second, &batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
	p.Decide(5*second, &batch.Decisions{})
	if got := asked(t, 5*second, p, first); got[1] != 130 {
		t.Errorf("from %d to %d, want an end at 130", got[0], got[1])
	}
}

func TestSubmittedJobsAndAsksHaveTheSameForecast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		platform, s, list := chaos(t)
		w := newWorld(t, platform, s)
		w.meddle = func(w *world) {
			shape := batch.Shape{Width: 2, Walltime: 9 * batch.Second}
			job := batch.Job{CPU: batch.One, Memory: 3}
			var f forecast.Forecaster
			may, has := make([]batch.Estimate, 1), make([]batch.Estimate, 1)
			f.Estimate(w.now, w.p, []batch.Ask{{Job: &job, Shapes: []batch.Shape{shape}}}, may)
			came := w.p.Fork().(*dfrs.Policy)
			spec := job
			spec.Handle, spec.Shape = came.Unused(), shape
			came.Apply(w.now, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: &spec})
			f.Estimate(w.now, came, []batch.Ask{{Job: &spec, Shapes: []batch.Shape{shape}}}, has)
			if diff := gocmp.Diff(may, has); diff != "" {
				t.Fatalf("at %d, -ask +submitted:\n%s", w.now, diff)
			}
		}
		w.play(list)
	})
}
