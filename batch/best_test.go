package batch_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// An ask for only the best shape has the same answer as the best of all shapes.
func TestTheBestShapeIsTheFirstToEnd(t *testing.T) {
	for name, factory := range map[string]batch.Factory{
		"fcfs": fcfs.New, "easy": easy.New, "cbf": cbf.New,
		"dynp": dynp.New, "overbook": overbook.New,
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				platform, ops := scene(t)
				menu := shapes(t, platform.Width()+1)
				c := newChaos(t, factory, platform)
				var f forecast.Forecaster
				c.afterPass = func(now batch.Time) { c.compareBest(now, &f, menu) }
				c.play(ops)
			})
		})
	}
}

// shapes draws shapes up to a width: of a job that runs faster with each processor, or
// random ones.
func shapes(t *rapid.T, widest int32) []batch.Shape {
	var menu []batch.Shape
	falling := rapid.Bool().Draw(t, "falls")
	d := secs(int(widest) + rapid.IntRange(1, 20).Draw(t, "alone"))
	for w := range widest {
		if d--; falling {
			d = max(secs(1), d-secs(rapid.IntRange(0, 3).Draw(t, "faster")))
		} else {
			d = secs(rapid.IntRange(1, 12).Draw(t, "walltime"))
		}
		if rapid.IntRange(0, 3).Draw(t, "left out") > 0 || w == 0 {
			menu = append(menu, batch.Shape{Width: w + 1, Walltime: batch.Duration(d)})
		}
	}
	return menu
}

func (c *chaos) compareBest(now batch.Time, f *forecast.Forecaster, menu []batch.Shape) {
	asks := []batch.Ask{
		{Job: &batch.Job{}, Shapes: menu},
		{Job: &batch.Job{Memory: 15, EarliestStart: now + secs(3)}, Shapes: menu},
		{Job: &batch.Job{}, Shapes: menu, From: now + secs(9)},
		{Job: &batch.Job{Window: &batch.Window{Start: now, End: now + secs(1)}}, Shapes: menu},
	}
	all, best := make([]batch.Estimate, len(asks)), make([]batch.Estimate, len(asks))
	if !f.Estimate(now, c.Policy, asks, all) {
		c.t.Fatal("no answer")
	}
	for i := range asks {
		asks[i].Best = true
	}
	f.Estimate(now, c.Policy, asks, best)
	for i := range asks {
		want, got := first(menu, &all[i]), first(menu, &best[i])
		if got != want || all[i].Kind != best[i].Kind {
			c.t.Fatalf("at %d, ask %d: shape %d, want %d, of %v starting at %v", now, i, got, want, menu, all[i].Starts)
		}
		for k := range menu {
			if at, exact := best[i].Starts[k], all[i].Starts[k]; at < exact || k == want && at != exact {
				c.t.Fatalf("at %d, ask %d: shape %d starts at %d, answered %d", now, i, k, exact, at)
			}
		}
	}
}

// first returns the shape that ends first, the narrowest if several do; -1 if none can
// start.
func first(menu []batch.Shape, e *batch.Estimate) int {
	at := -1
	for i := range menu {
		if e.Starts[i] != batch.Never && (at < 0 || e.End(i, menu[i].Walltime) < e.End(at, menu[at].Walltime)) {
			at = i
		}
	}
	return at
}
