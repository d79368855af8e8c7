package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/rpcface"
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

func (s *Server) records(jobs []site.Job) ([]record, error) {
	out := make([]record, 0, len(jobs))
	for _, j := range jobs {
		r, err := s.record(j)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
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
// one that it has no room for, and returns the token of the next page.
func (s *Server) list(ctx context.Context, f site.Filter, after string, limit int, take func(record) bool) (next string, err error) {
	var (
		jobs   []site.Job
		more   batch.JobID
		failed error
	)
	err = s.see(ctx, func() { jobs, more, failed = s.core.List(f, batch.JobID(after), limit) })
	if err := errors.Join(err, failed); err != nil {
		return "", err
	}
	for i := range jobs {
		r, err := s.record(jobs[i])
		if err != nil {
			return "", err
		}
		if !take(r) {
			return string(jobs[i-1].ID), nil
		}
	}
	return string(more), nil
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
			return &rpcface.Problem{
				Reason: rpcface.UnknownJob, Field: "job_id", Message: fmt.Sprintf("job %s has stayed at the site from which it was to come", id),
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
