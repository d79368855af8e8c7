package batch_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

// opaque hides the queue interface of a policy, so a forecaster must run the policy once for
// each shape: the slow and obvious way.
type opaque struct{ batch.Runnable }

func (p opaque) Fork() batch.Policy { return opaque{p.Runnable.Fork().(batch.Runnable)} }

func (p opaque) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return p }

// State that a forecaster keeps between estimates stays valid through any events, and at any
// instant until the next pass.
func TestQueueEstimatesMatchARunForEachShape(t *testing.T) {
	for name, factory := range map[string]batch.Factory{"fcfs": fcfs.New, "easy": easy.New} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				platform, ops := scene(t)
				c := newChaos(t, factory, platform)
				asksAt := rapid.SliceOfN(rapid.IntRange(0, 3), 8, 8).Draw(t, "asks")
				var f forecast.Forecaster
				passes := 0
				c.afterPass = func(now batch.Time) {
					next := min(c.e.Next(), c.until, now+secs(20))
					switch asksAt[passes%len(asksAt)] {
					case 1:
						c.compare(now, &f)
					case 2:
						c.compare(max(now, next-1), &f)
					case 3:
						c.compare(now, &f)
						c.compare(now+(next-now)/2, &f)
					}
					passes++
				}
				c.play(ops)
			})
		})
	}
}

// compare skips cases with guarded slots and overrunning jobs: a plan and a run guess the
// ends of overrunning jobs differently.
func (c *chaos) compare(now batch.Time, f *forecast.Forecaster) {
	if c.overrun(now) && c.guarded() {
		return
	}
	var shapes []batch.Shape
	for w := range c.platform.Width() + 1 {
		shapes = append(shapes, batch.Shape{Width: w + 1, Walltime: batch.Duration(secs(int(7 - w%3*2)))})
	}
	asks := []batch.Ask{
		{Job: &batch.Job{}, Shapes: shapes},
		{Job: &batch.Job{Memory: 15, EarliestStart: now + secs(3)}, Shapes: shapes},
		{Job: &batch.Job{}, Shapes: shapes, From: now + secs(9)},
	}
	var list []batch.Handle
	for h, a := range c.jobs {
		if a.state != counted.Running {
			list = append(list, h)
		}
	}
	slices.Sort(list)
	for _, h := range list {
		asks = append(asks, batch.Ask{
			Job:    c.jobs[h].spec,
			Shapes: []batch.Shape{{Width: c.jobs[h].spec.Shape.Width, Walltime: c.jobs[h].walltime}},
		})
	}
	got, want := make([]batch.Estimate, len(asks)), make([]batch.Estimate, 1)
	if !f.Estimate(now, c.Policy, asks, got) {
		c.t.Fatal("no answer")
	}
	var slow forecast.Forecaster
	for i, a := range asks {
		for k, s := range a.Shapes {
			one := a
			one.Shapes = []batch.Shape{s} // a single shape, so the run is not cut short
			slow.Estimate(now, opaque{c.Policy.(batch.Runnable)}, []batch.Ask{one}, want)
			if got[i].Starts[k] != want[0].Starts[0] || got[i].Kind != want[0].Kind {
				c.t.Fatalf("at %d, job %d, %v from %d: %v %d, want %v %d", now, a.Job.Handle, s, a.From,
					got[i].Kind, got[i].Starts[k], want[0].Kind, want[0].Starts[0])
			}
		}
	}
}
