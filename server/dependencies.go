package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Limits of queries to other servers about dependencies of local jobs.
const (
	maxAsks    = 32
	askTimeout = 5 * time.Second // for one answer
	// maxWatched bounds the concurrent watches, one job each. Jobs beyond it are polled.
	maxWatched   = 256
	longestWatch = 10 * time.Minute // then the job is located again
	firstPause   = time.Second      // the first pause before an unresolved job is located again; it doubles
	longestPause = 30 * time.Second
)

// dependencies finds out what becomes of jobs at other sites that local jobs depend on.
//
//	core ── Watch(J) ──▶ watchDependency ── FindJob(J) ──▶ all servers of the group
//	  ▲                     └─ WatchJob(J) ─▶ the server that has it, until it ends or moves
//	  └────── Heard ◀───────┘
type dependencies struct {
	asks    chan struct{}        // a semaphore of FindJob calls
	watched chan struct{}        // a semaphore of WatchJob calls
	at      map[batch.JobID]bool // the jobs being watched; owned by the loop
}

func newDependencies() dependencies {
	return dependencies{
		asks: make(chan struct{}, maxAsks), watched: make(chan struct{}, maxWatched), at: make(map[batch.JobID]bool),
	}
}

// sighting is a server's answer about a job.
type sighting struct {
	rpc.Sighting
	site, url string
}

// live reports whether the server that answered can send updates: the job is there and has not
// ended.
func (a *sighting) live() bool {
	return a.State != site.Absent && a.State != site.Gone && !a.State.Over()
}

// better reports whether a sighting supersedes another one: it has a later epoch, or the same epoch
// and comes from the server that has the job.
func (a *sighting) better(b *sighting) bool {
	rank := func(s *sighting) int {
		switch s.State {
		case site.Absent:
			return 0
		case site.Gone, site.Incoming:
			return 1
		}
		return 2
	}
	if a.State == site.Absent || b.State == site.Absent || a.Epoch == b.Epoch {
		return rank(a) > rank(b)
	}
	return a.Epoch > b.Epoch
}

// locateJob asks all other servers about a job. It returns the best answer, with state Absent if no
// server has the job, and the sites that did not answer.
func (s *Server) locateJob(ctx context.Context, id batch.JobID) (found sighting, silent []string) {
	var (
		mu   sync.Mutex
		work sync.WaitGroup
	)
	for _, m := range s.group.Members() {
		if m.Role != gossip.Server || m.Name == s.cfg.Name {
			continue
		}
		work.Go(func() {
			answer, err := s.askAbout(ctx, m.URL, id)
			seen := sighting{Sighting: answer, site: m.Name, url: m.URL}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				s.log.Debug("find job failed", "job", id, "site", m.Name, "error", err)
				silent = append(silent, m.Name)
			case seen.better(&found):
				found = seen
			}
		})
	}
	work.Wait()
	slices.Sort(silent)
	return found, silent
}

func (s *Server) askAbout(ctx context.Context, url string, id batch.JobID) (rpc.Sighting, error) {
	select {
	case s.dependencies.asks <- struct{}{}:
		defer func() { <-s.dependencies.asks }()
	case <-ctx.Done():
		return rpc.Sighting{}, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return s.outbox.peers.FindJob(ctx, url, id)
}

// lookUpDependencies finds the states of those dependencies of a new job that are not here. The
// error is a *problem.Problem if a dependency may be at a site that does not answer.
func (s *Server) lookUpDependencies(ctx context.Context, r *site.Request) ([]site.JobStatus, error) {
	elsewhere, err := s.remoteDependencies(ctx, r)
	if err != nil || len(elsewhere) == 0 {
		return nil, err
	}
	out := make([]site.JobStatus, len(elsewhere))
	failed := make([]error, len(elsewhere))
	var work sync.WaitGroup
	for i, e := range elsewhere {
		work.Go(func() {
			found, silent := s.locateJob(ctx, e.id)
			if out[i] = (site.JobStatus{Job: e.id, State: found.State}); found.State == site.Absent &&
				len(silent) > 0 && !e.known {
				failed[i] = &problem.Problem{
					Reason: problem.Unreachable, Field: "request.after", Accepted: "jobs that a site has",
					Retryable: true,
					Message: fmt.Sprintf("dependency %s may be at a site that does not answer: %s", e.id,
						strings.Join(silent, ", ")),
					Hint: "try again; drover sites shows which sites answer",
				}
			}
		})
	}
	work.Wait()
	for _, err := range append(failed, ctx.Err()) {
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(out, func(t site.JobStatus) bool { return t.State == site.Absent }), nil
}

// remoteJob is a job that this server is not the authority for.
type remoteJob struct {
	id    batch.JobID
	known bool // it was here, or is incoming
}

// remoteDependencies returns the dependencies of a request that are not here, each once.
func (s *Server) remoteDependencies(ctx context.Context, r *site.Request) (list []remoteJob, err error) {
	var failed error
	seen := make(map[batch.JobID]bool)
	err = s.see(ctx, func() {
		for _, d := range r.After {
			if seen[d.Job] {
				continue
			}
			seen[d.Job] = true
			if failed = s.recall(d.Job); failed != nil {
				return
			}
			j, err := s.core.Job(d.Job)
			if err != nil || j.State == site.Gone || j.State == site.Incoming {
				list = append(list, remoteJob{id: d.Job, known: err == nil})
			}
		}
	})
	return list, errors.Join(err, failed)
}

// dependent reports whether a job waits for others; called by the loop.
func (s *Server) dependent(id batch.JobID) bool {
	j, err := s.core.Job(id)
	return err == nil && len(j.Awaits()) > 0
}

// recallAfter loads the records of a request's dependencies into the core; called by the loop.
func (s *Server) recallAfter(r *site.Request) error {
	for _, d := range r.After {
		if err := s.recall(d.Job); err != nil {
			return err
		}
	}
	return nil
}

// watchDependencies starts to watch jobs at other sites; called by the loop.
func (s *Server) watchDependencies(ids []batch.JobID) {
	for _, id := range ids {
		if !s.dependencies.at[id] {
			s.dependencies.at[id] = true
			s.spawn(func() { s.watchDependency(s.life, id) })
		}
	}
}

// watchDependency finds out how a job ends, as long as a local job waits for it. A server that does
// not answer is unknown, not dead: it is asked again.
func (s *Server) watchDependency(ctx context.Context, id batch.JobID) {
	pauses := &backoff.ExponentialBackOff{InitialInterval: firstPause, Multiplier: 2, MaxInterval: longestPause}
	for s.awaited(ctx, id) {
		found, silent := s.locateJob(ctx, id)
		if found.live() {
			if update, ok := s.watchRemote(ctx, &found, id); ok {
				found = update
				pauses.Reset()
			}
		}
		if found.State.Over() {
			// An error means that the server is stopping; it asks again after the restart.
			_ = s.doRetry(ctx, func() { s.core.UpdateRemote(s.now(), site.JobStatus{Job: id, State: found.State}) })
			continue
		}
		s.log.Debug("remote dependency has not ended", "job", id, "site", found.site, "state", found.State, "silent",
			silent)
		select {
		case <-time.After(pauses.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

// awaited reports whether a local job waits for a job elsewhere. If not, the watch of that job is
// over.
func (s *Server) awaited(ctx context.Context, id batch.JobID) (yes bool) {
	err := s.see(ctx, func() {
		if yes = s.core.Awaited(id); !yes {
			delete(s.dependencies.at, id)
		}
	})
	return yes && err == nil || err != nil && ctx.Err() == nil && !isStopping(err) // unknown while the disk is full
}

// watchRemote follows a job at another server until it ends or leaves there. It returns the last
// update, if there was one.
func (s *Server) watchRemote(ctx context.Context, to *sighting, id batch.JobID) (last sighting, ok bool) {
	select {
	case s.dependencies.watched <- struct{}{}:
		defer func() { <-s.dependencies.watched }()
	default:
		return sighting{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, longestWatch)
	defer cancel()
	err := s.outbox.peers.WatchJob(ctx, to.url, id, func(seen rpc.Sighting) {
		last, ok = sighting{Sighting: seen, site: to.site, url: to.url}, true
	})
	if err != nil {
		s.log.Debug("watch job failed", "job", id, "site", to.site, "error", err)
	}
	return last, ok
}
