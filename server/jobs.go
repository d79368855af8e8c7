package server

import (
	"context"
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// job returns one job.
func (s *Server) job(ctx context.Context, name string) (record, error) {
	id, err := site.CheckID(name)
	if err != nil {
		return record{}, err
	}
	var (
		r      record
		failed error
	)
	err = s.do(ctx, func() {
		var j site.Job
		j, failed = s.core.Job(id)
		r = s.record(j)
	})
	return r, errors.Join(err, failed)
}

// list returns a page of jobs, and the token of the next.
func (s *Server) list(ctx context.Context, f site.Filter, after string, limit int) (page []record, next string, err error) {
	var failed error
	err = s.do(ctx, func() {
		var (
			jobs []site.Job
			more batch.JobID
		)
		jobs, more, failed = s.core.List(f, batch.JobID(after), limit)
		for _, j := range jobs {
			page = append(page, s.record(j))
		}
		next = string(more)
	})
	return page, next, errors.Join(err, failed)
}

// cancel ends a job.
func (s *Server) cancel(ctx context.Context, name string) (record, error) {
	id, err := site.CheckID(name)
	if err != nil {
		return record{}, err
	}
	var (
		r      record
		failed error
	)
	err = s.do(ctx, func() {
		j, cmds, e := s.core.Cancel(id)
		if failed = e; e != nil {
			return
		}
		r = s.record(j)
		if len(cmds) == 0 {
			return
		}
		s.changed(j)
		failed = s.system.Do(context.WithoutCancel(ctx), cmds)
	})
	return r, errors.Join(err, failed)
}

// watch sends a job as it is and after every change, until it has ended.
func (s *Server) watch(ctx context.Context, name string, send func(record) error) error {
	id, err := site.CheckID(name)
	if err != nil {
		return err
	}
	r, changes, cancel, err := s.subscribe(ctx, id)
	if err != nil {
		return err
	}
	defer cancel()
	for {
		if err := send(r); err != nil || r.State.Final() {
			return err
		}
		if r, err = s.await(ctx, changes); err != nil {
			return err
		}
	}
}

// await returns the next change of a job that is watched.
func (s *Server) await(ctx context.Context, changes <-chan record) (record, error) {
	select {
	case r := <-changes:
		return r, nil
	case <-ctx.Done():
		return record{}, ctx.Err()
	case <-s.closing:
	}
	select {
	case r := <-changes: // its last one
		return r, nil
	default:
		return record{}, errStopping
	}
}
