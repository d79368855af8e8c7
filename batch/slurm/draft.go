package slurm

import (
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Draft returns a copy of the model. What Slurm would do with the jobs that are put
// into it is a forecast, like all that is said of it. The error wraps
// batch.ErrNoDrafts when nobody knows how Slurm is.
func (s *System) Draft(context.Context) (batch.Draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch _, err := s.age(); {
	case s.closed:
		return nil, fmt.Errorf("draft: %w", ErrClosed)
	case err != nil:
		return nil, fmt.Errorf("draft: %w: %w", batch.ErrNoDrafts, err)
	case s.model == nil:
		return nil, fmt.Errorf("draft: %w: no usable nodes", batch.ErrNoDrafts)
	}
	d := &draft{
		made: s.Now(), model: s.model.fork(), forecaster: s.cfg.Forecasters(), shapes: make(map[batch.Key]batch.Shape),
	}
	for key, st := range s.model.own {
		if a := s.attempts[key]; a != nil && a.phase == batch.PhaseQueued && a.want == toRun && !st.started {
			d.shapes[key] = a.shape
		}
	}
	return d, nil
}

// fork returns an independent copy.
func (m *model) fork() *model {
	c := *m
	c.policy = m.policy.Fork()
	c.pass1 = batch.Decisions{}
	c.specs, c.known = nil, make([]standing, len(m.own)) // their room is theirs
	c.own, c.byJob = make(map[batch.Key]*standing, len(m.own)), make([]*standing, len(m.byJob))
	for key, st := range m.own {
		own := &c.known[0]
		c.known = c.known[1:]
		*own = *st
		c.own[key], c.byJob[own.job.Handle] = own, own
	}
	return &c
}

// draft is a copy of the model and of who waits in it, with the shapes that were
// asked for.
type draft struct {
	made       batch.Time
	model      *model
	forecaster Forecaster
	shapes     map[batch.Key]batch.Shape
}

// Made is batch.Draft's.
func (d *draft) Made() batch.Time { return d.made }

// Estimate is batch.Draft's.
func (d *draft) Estimate(_ batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	own := make([]batch.Ask, len(asks))
	for i := range asks {
		own[i] = d.model.ask(&asks[i])
	}
	if !d.forecaster.Estimate(d.model.now, d.model.policy, own, out) {
		return false
	}
	for i := range asks {
		present(&out[i], d.made)
	}
	return true
}

// Standing is batch.Draft's. A job that the model has started, and Slurm has not
// yet, waits no more.
func (d *draft) Standing(keys []batch.Key, out []batch.Standing) bool {
	var asks []batch.Ask
	for i, key := range keys {
		out[i] = batch.Standing{Start: batch.Never, End: batch.Never}
		shape, ok := d.shapes[key]
		if st := d.model.waiting(key); ok && st != nil && !st.held {
			out[i].Waits, out[i].Shape = true, shape
			asks = append(asks, batch.Ask{Job: st.job, Shapes: []batch.Shape{st.job.Shape}})
		}
	}
	if len(asks) == 0 {
		return true
	}
	ests := make([]batch.Estimate, len(asks))
	if !d.forecaster.Estimate(d.model.now, d.model.policy, asks, ests) {
		return false
	}
	next := 0
	for i := range keys {
		if !out[i].Waits {
			continue
		}
		e := &ests[next]
		next++
		present(e, d.made)
		out[i].Kind = e.Kind
		if out[i].Start = e.Starts[0]; out[i].Start != batch.Never {
			out[i].End = e.End(0, out[i].Shape.Walltime)
		}
	}
	return true
}

// Submit is batch.Draft's.
func (d *draft) Submit(key batch.Key, job *batch.Job) {
	d.model.enter(&attempt{key: key, job: job, shape: job.Shape, want: toRun, stage: outside, phase: batch.PhaseQueued})
	d.shapes[key] = job.Shape
}

// Cancel is batch.Draft's.
func (d *draft) Cancel(key batch.Key) bool {
	st := d.model.waiting(key)
	if _, ok := d.shapes[key]; !ok || st == nil || st.held {
		return false
	}
	d.model.leave(key)
	delete(d.shapes, key)
	return true
}
