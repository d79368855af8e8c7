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

// withDossier adds the dossier from the store to a job. That of a tombstone is empty.
func (s *Server) withDossier(j site.Job) (site.Job, error) {
	if !j.Kept {
		j.Dossier = &site.Dossier{}
		return j, nil
	}
	d, err := s.dossier(&j)
	if errors.Is(err, store.ErrNotFound) { // the job was forgotten in the meantime
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

// Jobs passes a page of jobs to take, which accepts the first one and returns false
// for a job that does not fit into the page. Jobs returns the token of the next page.
// Jobs that are forgotten between two pages leave no gap.
func (s *Server) Jobs(ctx context.Context, f site.Filter, token string, limit int, take func(*site.Job) bool) (next string, err error) {
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
		j, err := s.withDossier(jobs[i])
		if err != nil {
			return "", err
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
