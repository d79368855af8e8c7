package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/gossip"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// The limits of asking other servers about jobs that some here come after.
const (
	maxAsks    = 32
	askTimeout = 5 * time.Second // for one answer
	// maxWatched bounds how many servers are watched to at a time, each about one
	// job; what is beyond that is asked about now and then.
	maxWatched     = 256
	longestWatch   = 10 * time.Minute // before it is asked anew who has the job
	firstReminder  = time.Second      // before a job that nobody could tell of is asked about again; it doubles
	longestSilence = 30 * time.Second
)

// dependencies find out what becomes of jobs at other sites.
//
//	core ── Watch(J) ──▶ lookout ── who has J? ──▶ all servers of the group
//	  ▲                     └─ WatchJob(J) ─▶ the one that has it, until it ends or goes
//	  └────── Heard ◀───────┘
type dependencies struct {
	asks    chan struct{}        // as many as may be under way at once
	watched chan struct{}        // as many as may be watched to
	at      map[batch.JobID]bool // belongs to the loop
}

func newDependencies() dependencies {
	return dependencies{
		asks: make(chan struct{}, maxAsks), watched: make(chan struct{}, maxWatched), at: make(map[batch.JobID]bool),
	}
}

// sighting is what a server says of a job.
type sighting struct {
	rpc.Sighting
	site, url string
}

// live says whether whoever has said this will have more to say: not of a job that has
// ended, or that another site has by now, which does not answer.
func (a *sighting) live() bool {
	return a.State != site.Absent && a.State != site.Gone && !a.State.Over()
}

// better says whether it tells more than another one: what was said later in the job's
// way through the grid, and by whom has it.
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

// seek asks all other servers about a job, and returns who has it, Absent for nobody,
// and the sites that did not answer.
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
				s.log.Debug("asking about a job", "job", id, "site", m.Name, "error", err)
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

// told finds out about the jobs that a new one is to come after, as far as they are not
// here. The error is a *problem.Problem if one may be at a site that does not answer.
func (s *Server) lookUpDependencies(ctx context.Context, r *site.Request) ([]site.Told, error) {
	elsewhere, err := s.remoteDependencies(ctx, r)
	if err != nil || len(elsewhere) == 0 {
		return nil, err
	}
	out := make([]site.Told, len(elsewhere))
	failed := make([]error, len(elsewhere))
	var work sync.WaitGroup
	for i, e := range elsewhere {
		work.Go(func() {
			found, silent := s.locateJob(ctx, e.id)
			if out[i] = (site.Told{Job: e.id, State: found.State}); found.State == site.Absent && len(silent) > 0 && !e.known {
				failed[i] = &problem.Problem{
					Reason: problem.Unreachable, Field: "request.after", Accepted: "jobs that some site has", Retryable: true,
					Message: fmt.Sprintf("job %s, after which it is to come, may be at a site that does not answer: %s", e.id, strings.Join(silent, ", ")),
					Hint:    "try again; drover sites shows who answers",
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
	return slices.DeleteFunc(out, func(t site.Told) bool { return t.State == site.Absent }), nil
}

// remoteJob is a job of which this server is not the authority.
type remoteJob struct {
	id    batch.JobID
	known bool // it has been here, or is coming
}

// elsewhere returns the jobs that a request is to come after and that are not here, each
// once.
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

// dependent says whether a job waits for others; called by the loop.
func (s *Server) dependent(id batch.JobID) bool {
	j, err := s.core.Job(id)
	return err == nil && len(j.Awaits()) > 0
}

// recallAfter brings what is left of the jobs that a request is to come after back to
// the core's memory; called by the loop.
func (s *Server) recallAfter(r *site.Request) error {
	for _, d := range r.After {
		if err := s.recall(d.Job); err != nil {
			return err
		}
	}
	return nil
}

// watchDependencies has jobs at other sites watched; called by the loop.
func (s *Server) watchDependencies(ids []batch.JobID) {
	for _, id := range ids {
		if !s.dependencies.at[id] {
			s.dependencies.at[id] = true
			s.spawn(func() { s.watchDependency(s.life, id) })
		}
	}
}

// lookout finds out how a job ends, for as long as somebody here waits for it. Whoever
// does not answer is unknown, and not dead: it asks again.
func (s *Server) watchDependency(ctx context.Context, id batch.JobID) {
	for pause := firstReminder; s.awaited(ctx, id); pause = min(2*pause, longestSilence) {
		found, silent := s.locateJob(ctx, id)
		if found.live() {
			if said, heard := s.watchRemote(ctx, &found, id); heard {
				found, pause = said, firstReminder
			}
		}
		if found.State.Over() {
			// An error means that the server ends: it asks again after it.
			_ = s.doRetry(ctx, func() { s.core.Heard(s.now(), site.Told{Job: id, State: found.State}) })
			continue
		}
		s.log.Debug("a job elsewhere has not ended", "job", id, "site", found.site, "state", found.State, "silent", silent)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// awaited says whether some job here waits for one elsewhere. If not, its lookout is
// over.
func (s *Server) awaited(ctx context.Context, id batch.JobID) (yes bool) {
	err := s.see(ctx, func() {
		if yes = s.core.Awaited(id); !yes {
			delete(s.dependencies.at, id)
		}
	})
	return yes && err == nil || err != nil && ctx.Err() == nil && !isStopping(err) // on a full disk nothing is known
}

// listen hears what a server tells of a job until it has ended there or gone from
// there, and returns the last of it, if there was any.
func (s *Server) watchRemote(ctx context.Context, to *sighting, id batch.JobID) (last sighting, heard bool) {
	select {
	case s.dependencies.watched <- struct{}{}:
		defer func() { <-s.dependencies.watched }()
	default:
		return sighting{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, longestWatch)
	defer cancel()
	err := s.outbox.peers.WatchJob(ctx, to.url, id, func(seen rpc.Sighting) {
		last, heard = sighting{Sighting: seen, site: to.site, url: to.url}, true
	})
	if err != nil {
		s.log.Debug("listening about a job", "job", id, "site", to.site, "error", err)
	}
	return last, heard
}
