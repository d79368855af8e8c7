package server

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
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

// system is what the server needs of its batch system: an embedded or an external one.
type system interface {
	batch.System
	// Now returns the time of the system's clock, which the core uses.
	Now() batch.Time
	// Estimate returns when jobs of given shapes would start if they were submitted now, and the
	// age of the state it is based on.
	Estimate(ctx context.Context, asks []batch.Ask) (ests []batch.Estimate, age batch.Duration, ok bool, err error)
	// Standing returns when a waiting attempt would start, and its latest end.
	Standing(ctx context.Context, key batch.Key) (start, end batch.Time, ok bool, err error)
	// Release ends the system but leaves jobs running; Close ends the jobs, too.
	Release(ctx context.Context) error
	Close(ctx context.Context) error
}

// closed reports whether an error means that the batch system is closed.
func closed(err error) bool {
	return errors.Is(err, exec.ErrClosed) || errors.Is(err, external.ErrClosed)
}

// missed reports whether a watch lost events and cannot continue from its cursor.
func missed(err error) bool {
	var embedded *exec.CursorError
	var cursor *external.CursorError
	return errors.As(err, &embedded) || errors.As(err, &cursor)
}
