package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Move starts to move a job to another site.
func (s *Server) Move(ctx context.Context, o site.Order) (site.Job, error) {
	if o.To != s.cfg.Name { // the core has more to say about that one
		if _, err := s.Peer("to", o.To); err != nil {
			return site.Job{}, err
		}
	}
	return s.change(ctx, string(o.Job), func() (site.Job, error) {
		return s.core.Move(s.now(), o, &planner{ctx: ctx, server: s})
	})
}

// Cancel ends a job.
func (s *Server) Cancel(ctx context.Context, name string) (site.Job, error) {
	return s.change(ctx, name, func() (site.Job, error) { return s.core.Cancel(s.now(), batch.JobID(name)) })
}

// Settle ends a move as the operator decided.
func (s *Server) Settle(ctx context.Context, name string, epoch uint32, settlement site.Settlement, reason string) (site.Job, error) {
	return s.change(ctx, name, func() (site.Job, error) {
		j, err := s.core.Settle(s.now(), batch.JobID(name), epoch, settlement, reason)
		if err == nil {
			s.log.Warn("an operator has settled a move", "job", name, "epoch", epoch, "as", settlement, "reason", reason)
		}
		return j, err
	})
}

// change has the core change one job, and returns it as it is then.
func (s *Server) change(ctx context.Context, name string, f func() (site.Job, error)) (site.Job, error) {
	if s.leaving.Load() {
		return site.Job{}, errStopping
	}
	id, err := site.CheckID(name)
	if err != nil {
		return site.Job{}, err
	}
	var (
		j      site.Job
		failed error
	)
	err = s.do(ctx, func() {
		if failed = s.recall(id); failed == nil {
			j, failed = f()
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return site.Job{}, err
	}
	return s.withDossier(j)
}

// Withdraw makes sure that this site never accepts a job.
func (s *Server) Withdraw(ctx context.Context, name string) (withdrawn bool, r site.Job, err error) {
	r, err = s.change(ctx, name, func() (j site.Job, err error) {
		withdrawn, j = s.core.Withdraw(s.now(), batch.JobID(name))
		return j, nil
	})
	return withdrawn, r, err
}

// Hold takes jobs out of the plan for a reallocation round.
func (s *Server) Hold(ctx context.Context, round string, lease batch.Duration, ids []batch.JobID) ([]site.Job, error) {
	return s.round(ctx, func() ([]site.Job, error) { return s.core.Hold(s.now(), round, lease, ids) })
}

// Place ends a reallocation round: it puts held jobs back or moves them.
func (s *Server) Place(ctx context.Context, round, agent string, list []site.Placement) ([]site.Job, error) {
	for i := range list {
		if to := list[i].To; to != "" && to != s.cfg.Name { // the core has more to say about that one
			if _, err := s.Peer(fmt.Sprintf("placements[%d].to", i), to); err != nil {
				return nil, err
			}
		}
	}
	return s.round(ctx, func() ([]site.Job, error) { return s.core.Place(s.now(), round, agent, list) })
}

func (s *Server) round(ctx context.Context, f func() ([]site.Job, error)) ([]site.Job, error) {
	if s.leaving.Load() {
		return nil, errStopping
	}
	var (
		jobs   []site.Job
		failed error
	)
	err := s.do(ctx, func() { jobs, failed = f() })
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	return jobs, nil
}

// Moves returns a page of the known moves, the latest first.
func (s *Server) Moves(ctx context.Context, f site.MoveFilter, after site.MoveCursor, limit int) (page []site.MoveOf, err error) {
	err = s.see(ctx, func() { page = s.core.Moves(f, after, limit) })
	return page, err
}

// SetDraining stops or resumes the acceptance of new jobs.
func (s *Server) SetDraining(ctx context.Context, on bool) error {
	if s.leaving.Load() {
		return errStopping
	}
	return s.do(ctx, func() { s.core.SetDraining(on) })
}
