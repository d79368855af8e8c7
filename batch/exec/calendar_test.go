package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// calendar gives each job a slot at its submission, around windows, and starts jobs in their
// slots in order. It records its events.
type calendar struct {
	plan    *profile.Profile
	jobs    map[batch.Handle]*entry
	windows map[batch.Handle]*slot
	waiting []batch.Handle
	log     []string
	killed  []batch.Handle
}

type entry struct {
	spec    *batch.Job
	place   batch.Time
	running bool
}

type slot struct {
	spec *batch.Job
	free int32
	open bool
}

func newCalendar(width int32) *calendar {
	return &calendar{plan: profile.New(0, width), jobs: map[batch.Handle]*entry{}, windows: map[batch.Handle]*slot{}}
}

func (c *calendar) Apply(now batch.Time, ev *batch.Event) {
	spec := ev.Spec
	switch ev.Kind {
	case batch.Reserve:
		c.plan.Reserve(max(spec.Window.Start, now), spec.Window.End, spec.Shape.Width)
		c.windows[ev.Job] = &slot{spec: spec, free: spec.Shape.Width}
	case batch.WindowOpen:
		spec = c.windows[ev.Job].spec
		c.windows[ev.Job].open = true
	case batch.WindowClose:
		spec = c.windows[ev.Job].spec
		delete(c.windows, ev.Job)
		for h, j := range c.jobs {
			if j.running && j.spec.Into == ev.Job {
				c.killed = append(c.killed, h)
			}
		}
	case batch.Submit, batch.Adopt:
		j := &entry{spec: spec, running: ev.Kind == batch.Adopt}
		c.jobs[ev.Job] = j
		switch {
		case j.running && spec.Into != batch.NoJob:
			c.windows[spec.Into].free -= spec.Shape.Width
		case j.running:
			c.plan.Reserve(now, ev.Since.Add(spec.Shape.Walltime), spec.Shape.Width)
		case spec.Into == batch.NoJob:
			j.place = c.fit(now, spec)
			c.plan.Reserve(j.place, j.place.Add(spec.Shape.Walltime), spec.Shape.Width)
		}
		if !j.running {
			c.waiting = append(c.waiting, ev.Job)
		}
	case batch.Cancel:
		if w := c.windows[ev.Job]; w != nil {
			spec = w.spec
			c.plan.Release(max(now, spec.Window.Start), spec.Window.End, spec.Shape.Width)
			delete(c.windows, ev.Job)
			break
		}
		spec = c.jobs[ev.Job].spec
		c.waiting = slices.DeleteFunc(c.waiting, func(h batch.Handle) bool { return h == ev.Job })
		delete(c.jobs, ev.Job)
	case batch.Finish:
		spec = c.jobs[ev.Job].spec
		if w := c.windows[spec.Into]; w != nil {
			w.free += spec.Shape.Width
		}
		delete(c.jobs, ev.Job)
	default:
		panic(ev.Kind)
	}
	c.log = append(c.log, fmt.Sprintf("%v %s", ev.Kind, spec.Name))
}

func (c *calendar) fit(now batch.Time, spec *batch.Job) batch.Time {
	return c.plan.Fit(max(now, spec.EarliestStart), spec.Shape.Walltime, spec.Shape.Width)
}

func (c *calendar) Decide(now batch.Time, out *batch.Decisions) {
	slices.Sort(c.killed)
	for _, h := range c.killed {
		if c.jobs[h] != nil {
			out.Add(batch.Kill, h)
		}
	}
	c.killed = nil
	c.waiting = slices.DeleteFunc(c.waiting, func(h batch.Handle) bool {
		j := c.jobs[h]
		if w := c.windows[j.spec.Into]; j.spec.Into != batch.NoJob {
			if w == nil || !w.open || w.free < j.spec.Shape.Width ||
				now.Add(j.spec.Shape.Walltime) > w.spec.Window.End {
				return false
			}
			w.free -= j.spec.Shape.Width
		} else if j.place > now {
			return false
		}
		j.running = true
		out.Start(h)
		return true
	})
}

func (c *calendar) Wake() batch.Time {
	next := batch.Never
	for _, h := range c.waiting {
		if j := c.jobs[h]; j.spec.Into == batch.NoJob {
			next = min(next, j.place)
		}
	}
	return next
}

func (c *calendar) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	for i, a := range asks {
		out[i].Kind = batch.Promised
		for k, s := range a.Shapes {
			starts := out[i].Grow(len(a.Shapes))
			starts[k] = c.plan.Fit(max(now, a.From), s.Walltime, s.Width)
			if w := a.Job.Window; w != nil {
				from := max(w.Start, now)
				if starts[k] = batch.Never; c.plan.Fit(from, w.End.Sub(from), s.Width) == from {
					starts[k] = w.Start
				}
			}
		}
	}
	return nil
}

func (c *calendar) Fork() batch.Policy { return c }

func (c *calendar) received() string { return strings.Join(c.log, ", ") }
