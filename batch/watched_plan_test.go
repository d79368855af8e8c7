package batch_test

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// checkPlan checks a plan that is rebuilt in every pass. It must hold all waiting jobs beside
// running jobs, reserved windows and agreed jobs. No job can start before its earliest
// start. Only unconfirmed jobs can have a start now: they use no processors yet.
func (w *watched) checkPlan(now batch.Time) {
	type slot struct {
		charge     int32
		start, end batch.Time
	}
	var plan []slot
	for h, a := range w.jobs {
		if a.state != counted.Waiting && a.state != counted.Incoming || a.fixed() {
			continue
		}
		var out [1]batch.Estimate
		shapes := []batch.Shape{{Width: a.spec.Shape.Width, Walltime: a.walltime}}
		w.asking.Estimate(now, w.Policy, []batch.Ask{{Job: a.spec, Shapes: shapes}}, out[:])
		start := out[0].Starts[0]
		switch {
		case out[0].Kind != batch.Planned || start < a.spec.EarliestStart:
			w.t.Fatalf("at %d job %d is planned for %d, %v", now, h, start, out[0].Kind)
		case a.state == counted.Incoming && start == now || start == batch.Never:
			continue
		case start <= now:
			w.t.Fatalf("at %d job %d is planned for %d and does not start", now, h, start)
		}
		plan = append(plan, slot{a.charge, start, start.Add(a.walltime)})
	}
	if w.trouble {
		return
	}
	for _, p := range plan {
		t := p.start // usage increases only where a job starts
		taken := w.aside(t) + w.agreed(t)
		for _, o := range plan {
			if o.start <= t && t < o.end {
				taken += o.charge
			}
		}
		for _, a := range w.jobs {
			if a.state == counted.Running && a.within == nil && a.start.Add(a.walltime) > t {
				taken += a.charge
			}
		}
		if taken > w.capacity() {
			w.t.Fatalf("at %d the plan takes %d of %d processors at %d", now, taken, w.capacity(), t)
		}
	}
}

// replanOracle replans all waiting jobs in an order at every event, and keeps the free
// processors of every future second.
func replanOracle(before func(a, b task) int) func(procs int, jobs []task) []int {
	return func(procs int, jobs []task) []int {
		var m machine
		horizon := 1
		for _, j := range jobs {
			horizon += j.Submit + j.Walltime
		}
		changed := true
		stir := func(int) { changed = true }
		return m.run(procs, jobs, func(_, _ int) { changed = true }, stir, func(now int) {
			if !changed {
				return
			}
			changed = false
			free := slices.Repeat([]int{procs}, 2*horizon)
			book := func(j, from, to int) {
				for t := from; t < to; t++ {
					free[t] -= jobs[j].Width
				}
			}
			for _, j := range m.running {
				book(j, now, max(now, m.start[j]+jobs[j].Walltime))
			}
			order := slices.Clone(m.waiting)
			slices.SortStableFunc(order, func(a, b int) int { return before(jobs[a], jobs[b]) })
			for _, j := range order {
				start := now
				for t := start; t < start+jobs[j].Walltime; t++ {
					if free[t] < jobs[j].Width {
						start = t + 1
					}
				}
				book(j, start, start+jobs[j].Walltime)
				if start == now {
					m.begin(now, slices.Index(m.waiting, j))
				}
			}
		})
	}
}
