package server

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Estimate returns when a request would be completed if it started notBefore from
// now at the earliest. The error is a *problem.Problem if the site would not accept
// the request.
func (s *Server) Estimate(ctx context.Context, r *site.Request, notBefore batch.Duration) (rpc.Estimate, error) {
	if s.leaving.Load() {
		return rpc.Estimate{}, errStopping
	}
	if s.disk.degraded() {
		return rpc.Estimate{}, errDiskFull
	}
	if err := r.Validate(); err != nil {
		return rpc.Estimate{}, err
	}
	if err := s.resolve(r); err != nil {
		return rpc.Estimate{}, err
	}
	var (
		q      rpc.Estimate
		failed error
	)
	asked := s.now()
	var at batch.Time
	var stale batch.Duration // the plan itself, where the batch system is only looked at
	err := s.see(ctx, func() {
		if failed = s.full(); failed != nil {
			return
		}
		p := planner{ctx: ctx, server: s}
		at = s.now()
		q.Quote, failed = s.core.Quote(at, site.Question{Request: r, From: asked.Add(notBefore)}, &p)
		failed = p.why(failed)
		if kept, known := s.core.AccuracyOf(r.Service); known {
			q.Accuracy = &kept
		}
		stale = p.age
	})
	if err = errors.Join(err, failed); err != nil {
		return rpc.Estimate{}, err
	}
	q.Age = s.now().Sub(at)
	q.Wait = max(q.Wait-q.Age, notBefore, 0)
	q.Completion = q.Wait + q.Run
	q.Age += stale
	return q, nil
}
