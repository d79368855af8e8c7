package server

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// quote is an estimate as it is answered.
type quote struct {
	site.Quote
	age  batch.Duration // of the state from which it was made
	kept *site.Accuracy // how earlier ones were kept; nil: nobody knows
}

// estimate answers when a request would be completed, not started before
// notBefore from now. Errors are a *site.Refusal when the site would not accept
// the request, and a *proto/rpc.Problem when it would not accept any.
func (s *Server) estimate(ctx context.Context, r *site.Request, notBefore batch.Duration) (quote, error) {
	if s.leaving.Load() {
		return quote{}, errStopping
	}
	if s.disk.degraded() {
		return quote{}, errDiskFull
	}
	if err := r.Validate(); err != nil {
		return quote{}, err
	}
	if err := s.resolve(r); err != nil {
		return quote{}, err
	}
	var (
		q      quote
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
			q.kept = &kept
		}
		stale = p.age
	})
	if err = errors.Join(err, failed); err != nil {
		return quote{}, err
	}
	q.age = s.now().Sub(at)
	q.Wait = max(q.Wait-q.age, notBefore, 0)
	q.Completion = q.Wait + q.Run
	q.age += stale
	return q, nil
}
