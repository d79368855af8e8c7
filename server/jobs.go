package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/server/store"
)

// record is a job as clients see it.
type record struct {
	site.Job
	dossier *site.Dossier // what it brought along; empty, not nil, of a tombstone
}

// record adds to a job what the store has of it.
func (s *Server) record(j site.Job) (record, error) {
	r := record{Job: j, dossier: &site.Dossier{}}
	if !j.Kept {
		return r, nil
	}
	d, err := s.dossier(&j)
	switch {
	case err == nil:
		r.dossier = d
	case !errors.Is(err, store.ErrNotFound): // it was forgotten meanwhile
		return record{}, err
	}
	return r, nil
}

// job returns one job.
func (s *Server) job(ctx context.Context, name string) (record, error) {
	id, err := site.CheckID(name)
	if err != nil {
		return record{}, err
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
		return record{}, err
	}
	return s.record(j)
}

// list gives a page of jobs to take, which takes the first and returns false for
// one that it has no room for, and returns the token of the next page. What is
// forgotten between two pages leaves no gap.
func (s *Server) list(ctx context.Context, f site.Filter, token string, limit int, take func(record) bool) (next string, err error) {
	after := uint64(0)
	if token != "" {
		if after, err = strconv.ParseUint(token, 10, 64); err != nil {
			return "", &problem.Problem{
				Reason: problem.BadValue, Field: "page_token", Accepted: "the next_page_token of the page before", Message: fmt.Sprintf("%.70q", token),
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
		r, err := s.record(jobs[i])
		if err != nil {
			return "", err
		}
		if !take(r) {
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

// watch sends a job as it is and after every change, until it has ended.
func (s *Server) watch(ctx context.Context, name string, send func(record) error) error {
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
		r, err := s.record(j)
		if err != nil {
			return err
		}
		if err := send(r); err != nil || j.State.Final() {
			return err
		}
		if j, err = s.await(ctx, changes); err != nil {
			return err
		}
		if j.State == site.Absent {
			return &problem.Problem{
				Reason: problem.UnknownJob, Field: "job_id", Message: fmt.Sprintf("job %s has stayed at the site from which it was to come", id),
				Hint: "the agent knows where it is",
			}
		}
	}
}

// await returns the next change of a job that is watched.
func (s *Server) await(ctx context.Context, changes <-chan site.Job) (site.Job, error) {
	select {
	case j := <-changes:
		return j, nil
	case <-ctx.Done():
		return site.Job{}, ctx.Err()
	case <-s.closing:
	}
	select {
	case j := <-changes: // its last one
		return j, nil
	default:
		return site.Job{}, errStopping
	}
}
