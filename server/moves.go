package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// move begins to move a job.
func (s *Server) move(ctx context.Context, o site.Order) (record, error) {
	if o.To != s.cfg.Name { // the core has more to say about that one
		if _, err := s.peer("to", o.To); err != nil {
			return record{}, err
		}
	}
	return s.change(ctx, string(o.Job), func() (site.Job, error) {
		return s.core.Move(s.now(), o, &planner{ctx: ctx, server: s})
	})
}

// cancel ends a job.
func (s *Server) cancel(ctx context.Context, name string) (record, error) {
	return s.change(ctx, name, func() (site.Job, error) { return s.core.Cancel(s.now(), batch.JobID(name)) })
}

// settleMove ends a move by an operator's word.
func (s *Server) settleMove(ctx context.Context, name string, epoch uint32, settlement site.Settlement, reason string) (record, error) {
	return s.change(ctx, name, func() (site.Job, error) {
		j, err := s.core.Settle(s.now(), batch.JobID(name), epoch, settlement, reason)
		if err == nil {
			s.log.Warn("an operator has settled a move", "job", name, "epoch", epoch, "as", settlement, "reason", reason)
		}
		return j, err
	})
}

// change has the core change one job, and returns it as it is then.
func (s *Server) change(ctx context.Context, name string, f func() (site.Job, error)) (record, error) {
	if s.leaving.Load() {
		return record{}, errStopping
	}
	id, err := site.CheckID(name)
	if err != nil {
		return record{}, err
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
		return record{}, err
	}
	return s.record(j)
}

// withdraw makes sure that a job is never accepted here.
func (s *Server) withdraw(ctx context.Context, name string) (withdrawn bool, r record, err error) {
	r, err = s.change(ctx, name, func() (j site.Job, err error) {
		withdrawn, j = s.core.Withdraw(s.now(), batch.JobID(name))
		return j, nil
	})
	return withdrawn, r, err
}

// hold takes jobs out of the plan for a round.
func (s *Server) hold(ctx context.Context, round string, lease batch.Duration, ids []batch.JobID) ([]site.Job, error) {
	return s.round(ctx, func() ([]site.Job, error) { return s.core.Hold(s.now(), round, lease, ids) })
}

// place ends a round.
func (s *Server) place(ctx context.Context, round, agent string, list []site.Placement) ([]site.Job, error) {
	for i := range list {
		if to := list[i].To; to != "" && to != s.cfg.Name { // the core has more to say about that one
			if _, err := s.peer(fmt.Sprintf("placements[%d].to", i), to); err != nil {
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

// moves returns a page of what is known of moves, the latest first.
func (s *Server) moves(ctx context.Context, f site.MoveFilter, after site.MoveCursor, limit int) (page []site.MoveOf, err error) {
	err = s.see(ctx, func() { page = s.core.Moves(f, after, limit) })
	return page, err
}

// setDraining lets the site take no new jobs, or take them again.
func (s *Server) setDraining(ctx context.Context, on bool) error {
	if s.leaving.Load() {
		return errStopping
	}
	return s.do(ctx, func() { s.core.SetDraining(on) })
}
