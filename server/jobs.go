package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// withDossier adds the dossier from the store to a job; a tombstone has an empty one.
func (s *Server) withDossier(j site.Job) (site.Job, error) {
	if !j.Kept {
		j.Dossier = &site.Dossier{}
		return j, nil
	}
	d, err := s.dossier(&j)
	if errors.Is(err, store.ErrNotFound) { // the job was forgotten meanwhile
		d, err = &site.Dossier{}, nil
	}
	j.Dossier = d
	return j, err
}

// Job returns one job.
func (s *Server) Job(ctx context.Context, name string) (site.Job, error) {
	id, err := site.CheckID(name)
	if err != nil {
		return site.Job{}, err
	}
	var (
		j      site.Job
		failed error
	)
	err = s.see(ctx, func() {
		if failed = s.recall(id); failed == nil {
			j, failed = s.core.Job(id)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return site.Job{}, err
	}
	return s.withDossier(j)
}

// Jobs passes a page of jobs to take, which accepts the first one and returns false for a job that
// does not fit into the page. Jobs returns the token of the next page. Jobs that are forgotten
// between two pages leave no gap.
func (s *Server) Jobs(
	ctx context.Context, f site.Filter, token string, limit int, brief bool, take func(*site.Job) bool,
) (next string, err error) {
	after := uint64(0)
	if token != "" {
		if after, err = strconv.ParseUint(token, 10, 64); err != nil {
			return "", &problem.Problem{
				Reason: problem.BadValue, Field: "page_token", Accepted: "the next_page_token of the previous page",
				Message: fmt.Sprintf("%.70q", token),
			}
		}
	}
	var (
		jobs []site.Job
		more bool
	)
	if err := s.see(ctx, func() { jobs, more = s.core.List(f, after, limit) }); err != nil {
		return "", err
	}
	for i := range jobs {
		j := jobs[i]
		if !brief {
			if j, err = s.withDossier(j); err != nil {
				return "", err
			}
		}
		if !take(&j) {
			more = true
			break
		}
		after = jobs[i].Serial
	}
	if !more {
		return "", nil
	}
	return strconv.FormatUint(after, 10), nil
}

// WatchJob sends a job now and after every change, until it is final.
func (s *Server) WatchJob(ctx context.Context, name string, send func(*site.Job) error) error {
	id, err := site.CheckID(name)
	if err != nil {
		return err
	}
	j, changes, cancel, err := s.subscribe(ctx, id)
	if err != nil {
		return err
	}
	defer cancel()
	for {
		full, err := s.withDossier(j)
		if err != nil {
			return err
		}
		if err := send(&full); err != nil || j.State.Final() {
			return err
		}
		if j, err = s.await(ctx, changes); err != nil {
			return err
		}
		if j.State == site.Absent {
			return &problem.Problem{
				Reason: problem.UnknownJob, Field: "job_id",
				Message: fmt.Sprintf("job %s stayed at its previous site", id),
				Hint:    "ask an agent's FindJob",
			}
		}
	}
}

// await returns the next change of a watched job.
func (s *Server) await(ctx context.Context, changes <-chan site.Job) (site.Job, error) {
	select {
	case j := <-changes:
		return j, nil
	case <-ctx.Done():
		return site.Job{}, ctx.Err()
	case <-s.closing:
	}
	select {
	case j := <-changes: // its last change
		return j, nil
	default:
		return site.Job{}, errStopping
	}
}

// Estimate returns when a request would complete if it started notBefore from now at the earliest.
// The error is a *problem.Problem if the site would not accept the request.
func (s *Server) Estimate(ctx context.Context, r *site.Request, notBefore batch.Duration) (rpc.Estimate, error) {
	if s.leaving.Load() {
		return rpc.Estimate{}, errStopping
	}
	if s.disk.degraded() {
		return declined(errDiskFull)
	}
	if err := r.Validate(); err != nil {
		return declined(err)
	}
	if err := s.resolve(r); err != nil {
		return rpc.Estimate{}, err
	}
	var (
		q      rpc.Estimate
		failed error
	)
	asked, delay := s.now(), s.launches.delay(time.Now())
	var at batch.Time
	var stale batch.Duration // the age of an external batch system's state
	err := s.see(ctx, func() {
		if failed = s.full(); failed != nil {
			return
		}
		p := planner{ctx: ctx, server: s}
		at = s.now()
		q.Quote, failed = s.core.Quote(at, site.Question{Request: r, From: asked.Add(max(notBefore, delay))}, &p)
		failed = p.why(failed)
		if kept, known := s.core.AccuracyOf(r.Service); known {
			q.Accuracy = &kept
		}
		stale = p.age
	})
	if err = errors.Join(err, failed); err != nil {
		return declined(err)
	}
	q.Age = s.now().Sub(at)
	q.Wait = max(q.Wait-q.Age, notBefore, 0)
	q.Completion = q.Wait + q.Run
	q.Age += stale
	return q, nil
}

// declined returns an estimate with a refusal if err means that the site would not
// accept the request, and err otherwise.
func declined(err error) (rpc.Estimate, error) {
	if p := problemOf(err); p != nil && rpc.Declines(p) {
		return rpc.Estimate{Refusal: p}, nil
	}
	return rpc.Estimate{}, err
}

// Move starts to move a job to another site.
func (s *Server) Move(ctx context.Context, o site.MoveRequest) (site.Job, error) {
	if o.To != s.cfg.Name { // the core has a better error for its own site
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
func (s *Server) Settle(
	ctx context.Context, name string, epoch uint32, settlement site.Settlement, reason string,
) (site.Job, error) {
	return s.change(ctx, name, func() (site.Job, error) {
		j, err := s.core.Settle(s.now(), batch.JobID(name), epoch, settlement, reason)
		if err == nil {
			s.log.Warn("move settled by operator", "job", name, "epoch", epoch, "as", settlement, "reason", reason)
		}
		return j, err
	})
}

// change applies a change to one job in the core and returns the resulting job.
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

// Place ends a reallocation round: it puts held jobs back or moves them. A job whose target site
// is unknown stays: refusing the whole list would hold the other jobs until their lease ends.
func (s *Server) Place(ctx context.Context, round, agent string, list []site.Placement) ([]site.Job, error) {
	list = slices.Clone(list)
	unknown := make(map[string]int) // placements by site
	for i := range list {
		to := list[i].To
		if to == "" || to == s.cfg.Name { // the core has a better error for its own site
			continue
		}
		if _, err := s.Peer("to", to); err != nil {
			unknown[to]++
			list[i] = site.Placement{Job: list[i].Job}
		}
	}
	for _, to := range slices.Sorted(maps.Keys(unknown)) {
		s.log.Warn("held jobs stay: target site unknown", "round", round, "to", to, "jobs", unknown[to])
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
func (s *Server) Moves(
	ctx context.Context, f site.MoveFilter, after site.MoveCursor, limit int,
) (page []site.JobMove, err error) {
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
