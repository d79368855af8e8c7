package server

import (
	"context"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// watchBatch reads the changes of the batch system until it is closed or ctx ends.
func (s *Server) watchBatch(ctx context.Context) {
	var at batch.Cursor
	for {
		got, err := s.system.Watch(ctx, at)
		switch {
		case missed(err):
			// Attempts that the batch system forgot meanwhile are lost. All others are reported
			// again, and the core ignores what it knows.
			s.log.Error("batch events missed", "error", err)
			at = 0
			continue
		case err != nil:
			if !closed(err) && ctx.Err() == nil {
				s.log.Error("watch of the batch system failed", "error", err)
			}
			return
		}
		for i := range got.Jobs {
			s.reportAttempt(ctx, &got.Jobs[i])
		}
		at = got.Next
	}
}

// instant converts a time of the batch system.
func instant(t time.Time) batch.Time { return batch.Time(t.UnixMicro()) }

// reportAttempt reports an attempt's change to the core. An end is reported after the outputs were
// examined.
func (s *Server) reportAttempt(ctx context.Context, f *batch.Found) {
	if f.Phase == batch.PhaseEnded {
		ended := *f
		s.work.Go(func() { s.reportEnd(ctx, &ended) })
		return
	}
	if !ran(f) {
		return // the launcher reports the launch
	}
	news := *f
	// The loop ends after the watcher.
	_ = s.doRetry(context.WithoutCancel(ctx), func() {
		s.logStale(s.core.Running(instant(news.Started), news.Key, news.Nodes, news.Allocation))
	})
}

// reportEnd reports an attempt's end to the core.
func (s *Server) reportEnd(ctx context.Context, f *batch.Found) {
	var outputs []site.Output
	how := f.Outcome
	found, known := s.takeMeasured(f.Key)
	if ran(f) {
		outputs, how = s.examineOutputs(ctx, f.Key.Job, how)
	}
	_ = s.doRetry(context.WithoutCancel(ctx), func() {
		before, err := s.core.Job(f.Key.Job)
		if err != nil || before.Key() != f.Key || before.State.Final() {
			return // the job was forgotten or handed over, or the report is old
		}
		if ran(f) {
			s.logStale(s.core.Running(instant(f.Started), f.Key, f.Nodes, f.Allocation))
		}
		if known {
			s.core.Measured(f.Key, found)
		}
		if how.End == batch.EndLost {
			how.Reason = lost(how.Reason)
		}
		was, _ := s.core.ServiceProblem(s.now(), before.Service)
		ended := min(instant(f.Ended), s.now()) // the clock of a node can be ahead
		s.logStale(s.core.Ended(ended, f.Key, how, outputs))
		is, _ := s.core.ServiceProblem(s.now(), before.Service)
		s.logServiceProblem(was, is)
	})
}

// examineOutputs examines the outputs of a job after its program ended, keeps those that the request names,
// and returns the resulting outcome.
func (s *Server) examineOutputs(ctx context.Context, id batch.JobID, how batch.Outcome) ([]site.Output, batch.Outcome) {
	r, err := s.Job(context.WithoutCancel(ctx), string(id))
	if err != nil {
		return nil, how // it was forgotten
	}
	var service *catalogue.Service
	if service, err = s.cfg.Catalogue.Service(r.Service); err != nil {
		return nil, how // the service is no longer offered
	}
	found, wrong := s.results(ctx, &r, service)
	return found, s.keepOutputs(&r, service, withOutputs(how, wrong), found)
}

// ran reports whether an attempt was launched.
func ran(f *batch.Found) bool {
	switch f.Phase {
	case batch.PhaseRunning, batch.PhasePaused:
		return true
	case batch.PhaseEnded:
		return !f.Started.IsZero() && f.Outcome.End != batch.EndStartFailed && f.Outcome.End != batch.EndNeverRan
	}
	return false
}

// logServiceProblem logs a service that has just been withdrawn or delayed.
func (s *Server) logServiceProblem(was, is site.ServiceProblem) {
	switch {
	case is.Withdrawn > was.Withdrawn:
		s.log.Error("service withdrawn", "service", is.Service, "for", is.Withdrawn, "reason", is.Reason)
	case is.Delay > was.Delay:
		s.log.Warn("service fails", "service", is.Service, "delay", is.Delay, "reason", is.Reason)
	}
}

// logStale logs a report that does not fit the job's state: it is old and was read again.
func (s *Server) logStale(j site.Job, err error) {
	if err != nil {
		s.log.Debug("stale report ignored", "job", j.ID, "error", err)
	}
}

// attemptSet is the set of attempts that the batch system launches or follows.
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
