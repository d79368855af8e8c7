package server

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// watchers are those who want to hear of changes. They belong to the loop, which
// waits for none of them: a slow one skips states.
type watchers struct {
	jobs map[batch.JobID][]chan site.Job // each holds the latest state
	all  []*feed
}

// feed is one who wants to hear of all jobs: the names of those that have changed
// since he last asked, each once.
type feed struct {
	changed map[batch.JobID]struct{}
	more    chan struct{} // holds at most one
}

// tell lets those know who watch a job, as it is on disk now; called by the loop.
func (s *Server) tell(r *site.Record) {
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
			return // it has been forgotten
		}
		j = site.Job{ID: id} // it has stayed elsewhere
	}
	for _, w := range list {
		select {
		case <-w: // nobody has looked at the one before
		default:
		}
		w <- j
	}
}

// subscribe returns a job as it is, and a channel with its latest state after
// each change. cancel ends the subscription.
func (s *Server) subscribe(ctx context.Context, id batch.JobID) (first site.Job, changes <-chan site.Job, cancel func(), err error) {
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
		// An error means that the loop, and with it all watching, is over.
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

// WatchJobs sends all jobs that are not final, then synced, and then every job that
// changes, as they are on disk, until ctx ends.
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

// maxNews bounds how many jobs are told in one piece.
const maxNews = 1000

// news takes some of the jobs that have changed, and says whether there are more.
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
