package exec

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Standing says when a waiting attempt would start, and end at the latest, as
// things stand: where it waits, with the shape it has. Instants are on the clock
// of Now. ok is false, and both are batch.Never, for one that is reserved, held,
// started or ended, and where nobody can say. The error for an attempt that is
// not known is a *batch.CommandError.
func (s *System) Standing(ctx context.Context, key batch.Key) (start, end batch.Time, ok bool, err error) {
	start, end = batch.Never, batch.Never
	var gone error
	err = s.ask(ctx, func(now batch.Time) {
		a := s.attempts[key]
		switch {
		case s.closing:
			gone = ErrClosed
		case a == nil:
			gone = refuse(key, ReasonUnknownJob, "no attempt %d of epoch %d", key.Attempt, key.Epoch)
		case a.phase != batch.PhaseQueued:
		case s.retired:
			gone = s.Err()
		default:
			start, end = s.standing(now, a)
		}
	})
	if err = cmp.Or(err, gone); err != nil {
		return batch.Never, batch.Never, false, fmt.Errorf("standing of a job: %w", err)
	}
	return start, end, start != batch.Never, nil
}

func (s *System) standing(now batch.Time, a *attempt) (start, end batch.Time) {
	asks := []batch.Ask{{Job: a.job, Shapes: []batch.Shape{a.shape}}}
	out := make([]batch.Estimate, 1)
	if !s.estimate(now, asks, out) || out[0].Starts[0] == batch.Never {
		return batch.Never, batch.Never
	}
	return out[0].Starts[0], out[0].End(0, a.shape.Walltime)
}
