package server

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/external"
)

// roughEstimator is a batch system that can accept jobs while its state is unknown. Its
// rough estimates only serve to choose their shapes.
type roughEstimator interface {
	RoughEstimate(ctx context.Context, asks []batch.Ask) (ests []batch.Estimate, ok bool)
}

// planner asks the batch system on behalf of the core.
type planner struct {
	ctx    context.Context // lives for one call, behind the core's interface
	server *Server
	blind  bool           // a rough estimate will do while the state of the batch system is unknown
	err    error          // why the last query failed
	age    batch.Duration // of the state behind the last answer
}

// Estimate implements site.Planner.
func (p *planner) Estimate(_ batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	ests, age, ok, err := p.server.system.Estimate(p.ctx, asks)
	var unknown *external.UnknownError
	if r, can := p.server.system.(roughEstimator); can && p.blind && errors.As(err, &unknown) {
		if rough, known := r.RoughEstimate(p.ctx, asks); known {
			ests, ok, err = rough, true, nil
		}
	}
	if err != nil {
		p.err = err
		return false
	}
	if ok && len(ests) == 1 && neverStarts(&ests[0]) {
		if err := p.server.awayProblem(); err != nil && !p.blind {
			p.err = err
			return false
		} else if err != nil {
			assumeNodesUp(&ests[0], p.server.now())
		}
	}
	copy(out, ests)
	p.age = age
	return ok
}

// Standing implements site.Plan.
func (p *planner) Standing(_ batch.Time, key batch.Key) (batch.Time, bool) {
	_, end, ok, err := p.server.system.Standing(p.ctx, key)
	if err != nil {
		p.server.log.Warn("estimate failed", "job", key.Job, "error", err)
		return 0, false
	}
	return end, ok
}

// why returns the planner's own error in place of the core's report that it had no answer.
func (p *planner) why(err error) error {
	if p.err != nil && err != nil {
		return p.err
	}
	return err
}
