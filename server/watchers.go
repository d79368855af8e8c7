package server

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// watchers are the subscribers to changes of jobs. The loop owns them and waits for none: a slow
// subscriber skips states.
type watchers struct {
	jobs map[batch.JobID][]chan site.Job // each holds the latest state
	all  []*feed
}

// feed is a subscriber to all jobs: the IDs of jobs that changed since its last read, each once.
type feed struct {
	changed map[batch.JobID]struct{}
	more    chan struct{} // holds at most one
}

// notify passes a job's durable state to the job's subscribers; called by the loop.
func (s *Server) notify(r *site.Record) {
	id := r.ID
	for _, f := range s.watchers.all {
		f.changed[id] = struct{}{}
		select {
		case f.more <- struct{}{}:
		default:
		}
	}
	list := s.watchers.jobs[id]
	if len(list) == 0 {
		return
	}
	j, err := s.core.Job(id)
	if err != nil {
		if r.State != site.Absent.String() {
			return // the job was forgotten
		}
		j = site.Job{ID: id} // the move here failed
	}
	for _, w := range list {
		select {
		case <-w: // replace a state that was not read
		default:
		}
		w <- j
	}
}

// subscribe returns a job's state and a channel that receives its latest state after each change.
// cancel ends the subscription.
func (s *Server) subscribe(
	ctx context.Context, id batch.JobID,
) (first site.Job, changes <-chan site.Job, cancel func(), err error) {
	w := make(chan site.Job, 1)
	var failed error
	err = s.see(ctx, func() {
		if failed = s.recall(id); failed != nil {
			return
		}
		if first, failed = s.core.Job(id); failed == nil {
			s.watchers.jobs[id] = append(s.watchers.jobs[id], w)
		}
	})
	cancel = func() {
		// An error means that the loop, and with it the subscription, has ended.
		_ = s.see(context.WithoutCancel(ctx), func() {
			left := slices.DeleteFunc(s.watchers.jobs[id], func(o chan site.Job) bool { return o == w })
			if s.watchers.jobs[id] = left; len(left) == 0 {
				delete(s.watchers.jobs, id)
			}
		})
	}
	if err := errors.Join(err, failed); err != nil {
		if failed == nil { // the turn may have failed after it
			cancel()
		}
		return site.Job{}, nil, nil, err
	}
	return first, w, cancel, nil
}

// WatchJobs sends all jobs that are not final, then synced, and then every job that changes, in its
// durable state, until ctx ends.
func (s *Server) WatchJobs(ctx context.Context, send func(jobs []site.Job, synced bool) error) error {
	f := &feed{changed: make(map[batch.JobID]struct{}), more: make(chan struct{}, 1)}
	err := s.see(ctx, func() {
		s.watchers.all = append(s.watchers.all, f)
		jobs, _ := s.core.List(site.Filter{Active: true}, 0, 0)
		for i := range jobs {
			f.changed[jobs[i].ID] = struct{}{}
		}
	})
	defer func() {
		_ = s.see(context.WithoutCancel(ctx), func() {
			s.watchers.all = slices.DeleteFunc(s.watchers.all, func(o *feed) bool { return o == f })
		})
	}()
	if err != nil {
		return err
	}
	for synced := false; ; {
		jobs, rest, err := s.news(ctx, f)
		if err != nil {
			return err
		}
		if len(jobs) > 0 || !synced && !rest {
			synced = synced || !rest
			if err := send(jobs, synced); err != nil {
				return err
			}
		}
		if rest {
			continue
		}
		select {
		case <-f.more:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return errStopping
		}
	}
}

// maxNews bounds the jobs sent in one batch.
const maxNews = 1000

// news removes and returns some of the changed jobs, and reports whether there are more.
func (s *Server) news(ctx context.Context, f *feed) (jobs []site.Job, rest bool, err error) {
	err = s.see(ctx, func() {
		for id := range f.changed {
			if len(jobs) == maxNews {
				break
			}
			delete(f.changed, id)
			if j, err := s.core.Job(id); err == nil {
				jobs = append(jobs, j)
			}
		}
		rest = len(f.changed) > 0
	})
	return jobs, rest, err
}
