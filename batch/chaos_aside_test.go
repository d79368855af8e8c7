package batch_test

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// settle does what a site does only after an estimate: it reserves windows and agrees to
// deadlines. An estimate needs a plan, so a pass comes first.
func (c *chaos) settle(o op) {
	shape := batch.Shape{Width: int32(o.Width), Walltime: batch.Duration(secs(o.Walltime))}
	now := c.e.Now()
	w := c.pickWindow(o.Which)
	switch o.Verb {
	case "window":
		from := now + secs(1+o.Which%15)
		spec := &batch.Job{Shape: batch.Shape{Width: shape.Width}, Window: &batch.Window{
			Start: from,
			End:   from.Add(shape.Walltime),
		}}
		c.pass()
		if c.answer(spec, shape) == from {
			spec.Handle = c.handle(o)
			c.e.Apply(&batch.Event{Kind: batch.Reserve, Job: spec.Handle, Spec: spec})
			c.pass()
		}
	case "agreed":
		spec := &batch.Job{Shape: shape, EarliestStart: now + secs(o.Which%4), Agreed: true}
		c.pass()
		start := c.answer(spec, shape)
		if start == batch.Never {
			return
		}
		if spec.Deadline = start.Add(shape.Walltime) + secs(o.Work/2); !o.Option {
			spec.Deadline = 0
		}
		spec.Handle = c.handle(o)
		c.e.Submit(spec, min(shape.Walltime, batch.Duration(secs(o.Work))))
		c.jobs[spec.Handle].planned = start
		c.pass()
	case "into", "outstay":
		if w == nil {
			return
		}
		spec := &batch.Job{Handle: c.handle(o), Shape: shape, Into: w.spec.Handle}
		spec.Shape.Width = 1 + (shape.Width-1)%w.spec.Shape.Width
		work := min(shape.Walltime, batch.Duration(secs(o.Work)))
		if o.Verb == "outstay" {
			work = shape.Walltime + batch.Duration(secs(o.Work))
		}
		c.e.Submit(spec, work)
	case "close":
		if w == nil {
			return
		}
		h := w.spec.Handle
		c.e.Apply(&batch.Event{Kind: batch.Cancel, Job: h})
		c.unused = append(c.unused, h)
	}
}

// answer returns the policy's estimate of the start of a job or window.
func (c *chaos) answer(spec *batch.Job, shape batch.Shape) batch.Time {
	var out [1]batch.Estimate
	c.ask.Estimate(c.e.Now(), c.Policy, []batch.Ask{{Job: spec, Shapes: []batch.Shape{shape}}}, out[:])
	return out[0].Starts[0]
}

func (c *chaos) pickWindow(which int) *aside {
	if len(c.windows) == 0 {
		return nil
	}
	return c.windows[which%len(c.windows)]
}

// clearStranded cancels the jobs that can no longer start because their windows have ended.
func (c *chaos) clearStranded() {
	var list []batch.Handle
	for h, a := range c.jobs {
		if a.state != counted.Running && a.spec.Into != batch.NoJob && a.within == nil {
			list = append(list, h)
		}
	}
	slices.Sort(list)
	for _, h := range list {
		c.e.Apply(&batch.Event{Kind: batch.Cancel, Job: h})
		c.unused = append(c.unused, h)
	}
	c.unused = append(c.unused, c.closed...)
	c.closed = nil
}
