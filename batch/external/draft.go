package external

import (
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Draft returns a copy of the model. Like all estimates, what it says about the jobs
// put into it is a forecast. The error wraps batch.ErrNoDrafts when the state of the
// cluster is unknown.
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
	for key, m := range s.model.own {
		if a := s.attempts[key]; a != nil && a.phase == batch.PhaseQueued && a.desired == wantRun && !m.started {
			d.shapes[key] = a.shape
		}
	}
	return d, nil
}

// draft is a copy of the model, with the desired shapes of its waiting attempts.
type draft struct {
	made       batch.Time
	model      *model
	forecaster Forecaster
	shapes     map[batch.Key]batch.Shape
}

// Made implements batch.Draft.
func (d *draft) Made() batch.Time { return d.made }

// Estimate implements batch.Draft.
func (d *draft) Estimate(_ batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	if !d.forecaster.Estimate(d.model.now, d.model.policy, d.model.asks(asks), out) {
		return false
	}
	for i := range asks {
		advance(&out[i], d.made)
	}
	return true
}

// Standing implements batch.Draft. A job that the model has started does not wait, even
// if the cluster has not started it yet.
func (d *draft) Standing(keys []batch.Key, out []batch.Standing) bool {
	var asks []batch.Ask
	for i, key := range keys {
		out[i] = batch.Standing{Start: batch.Never, End: batch.Never}
		shape, ok := d.shapes[key]
		if m := d.model.waiting(key); ok && m != nil && !m.held {
			out[i].Waits, out[i].Shape = true, shape
			asks = append(asks, m.ask())
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
		advance(e, d.made)
		out[i].Kind = e.Kind
		if out[i].Start = e.Starts[0]; out[i].Start != batch.Never {
			out[i].End = e.End(0, out[i].Shape.Walltime)
		}
	}
	return true
}

// Submit implements batch.Draft.
func (d *draft) Submit(key batch.Key, job *batch.Job) {
	d.model.enter(&attempt{
		key: key, job: job, shape: job.Shape, desired: wantRun, stage: local, phase: batch.PhaseQueued,
	})
	d.shapes[key] = job.Shape
}

// Cancel implements batch.Draft.
func (d *draft) Cancel(key batch.Key) bool {
	m := d.model.waiting(key)
	if _, ok := d.shapes[key]; !ok || m == nil || m.held {
		return false
	}
	d.model.leave(key)
	delete(d.shapes, key)
	return true
}
