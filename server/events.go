package server

import (
	"context"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// follow reads the changes of the batch system until it is closed or ctx ends.
func (s *Server) watchBatch(ctx context.Context) {
	var at batch.Cursor
	for {
		got, err := s.system.Watch(ctx, at)
		switch {
		case missed(err):
			// What has been forgotten meanwhile is not learned any more; all the
			// rest comes again, and the core knows repeated news.
			s.log.Error("changes of the batch system were missed", "error", err)
			at = 0
			continue
		case err != nil:
			if !closed(err) && ctx.Err() == nil {
				s.log.Error("watching the batch system", "error", err)
			}
			return
		}
		for i := range got.Jobs {
			s.learn(ctx, &got.Jobs[i])
		}
		at = got.Next
	}
}

// instant converts a time of the batch system.
func instant(t time.Time) batch.Time { return batch.Time(t.UnixMicro()) }

// learn tells the core what became of an attempt. The end of one is told when
// what it has written has been looked at.
func (s *Server) learn(ctx context.Context, f *batch.Found) {
	if f.Phase == batch.PhaseEnded {
		ended := *f
		s.work.Go(func() { s.learnEnd(ctx, &ended) })
		return
	}
	if !ran(f) {
		return // the launcher tells that it is being launched
	}
	news := *f
	// The loop ends after the watcher.
	_ = s.doRetry(context.WithoutCancel(ctx), func() {
		s.misfit(s.core.Running(instant(news.Started), news.Key, news.Nodes, news.Allocation))
	})
}

// learnEnd tells the core of an end.
func (s *Server) learnEnd(ctx context.Context, f *batch.Found) {
	var outputs []site.Output
	how := f.Outcome
	found, known := s.takeMeasured(f.Key)
	if ran(f) {
		outputs, how = s.written(ctx, f.Key.Job, how)
	}
	_ = s.doRetry(context.WithoutCancel(ctx), func() {
		before, err := s.core.Job(f.Key.Job)
		if err != nil || before.Key() != f.Key || before.State.Final() {
			return // it was forgotten, was handed over, or this is old news
		}
		if ran(f) {
			s.misfit(s.core.Running(instant(f.Started), f.Key, f.Nodes, f.Allocation))
		}
		if known {
			s.core.Measured(f.Key, found)
		}
		if how.End == batch.EndLost {
			how.Reason = lost(how.Reason)
		}
		s.misfit(s.core.Ended(instant(f.Ended), f.Key, how, outputs))
	})
}

// written looks at what a job has written whose program ended as told, keeps what is to
// be kept, and says how the job has ended.
func (s *Server) written(ctx context.Context, id batch.JobID, how batch.Outcome) ([]site.Output, batch.Outcome) {
	r, err := s.Job(context.WithoutCancel(ctx), string(id))
	if err != nil {
		return nil, how // it was forgotten
	}
	var service *catalogue.Service
	if service, err = s.cfg.Catalogue.Service(r.Service); err != nil {
		return nil, how // it is offered no more
	}
	found, wrong := s.results(ctx, &r, service)
	return found, s.keepResults(&r, service, judged(how, wrong), found)
}

// ran says whether an attempt was launched.
func ran(f *batch.Found) bool {
	switch f.Phase {
	case batch.PhaseRunning, batch.PhasePaused:
		return true
	case batch.PhaseEnded:
		return !f.Started.IsZero() && f.Outcome.End != batch.EndStartFailed && f.Outcome.End != batch.EndNeverRan
	}
	return false
}

// misfit notes news that do not fit the job's state: they are old, read again.
func (s *Server) misfit(j site.Job, err error) {
	if err != nil {
		s.log.Debug("news of a job do not fit", "job", j.ID, "error", err)
	}
}

// followed are the attempts that the batch system launches, or follows.
type attemptSet struct {
	mu   sync.Mutex
	keys map[batch.Key]bool
}

func (f *attemptSet) add(key batch.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = make(map[batch.Key]bool)
	}
	f.keys[key] = true
}

func (f *attemptSet) remove(key batch.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, key)
}

func (f *attemptSet) has(key batch.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys[key]
}
