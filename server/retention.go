package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// finished is a job that has ended and is kept.
type finished struct {
	id    batch.JobID
	ended batch.Time
	size  int64 // of its files, bytes
}

// expireEvery is the interval between two checks for expired jobs.
const expireEvery = time.Minute

// keepFinished registers the jobs that ended before the restart. It runs outside of the loop,
// because it may have to read many files.
func (s *Server) keepFinished() {
	jobs, _ := s.core.List(site.Filter{}, 0, 0)
	s.spawn(func() {
		var (
			old []finished
			sum int64
		)
		for i := range jobs {
			if j := &jobs[i]; j.State.Final() && j.Kept && j.State != site.Gone {
				old = append(old, finished{id: j.ID, ended: j.Ended, size: s.data.Size(j.ID)})
				sum += old[len(old)-1].size
			}
		}
		slices.SortFunc(old, func(a, b finished) int {
			return cmp.Or(cmp.Compare(a.ended, b.ended),
				cmp.Compare(a.id, b.id))
		})
		// An error means that the server is stopping; the jobs are registered after the restart.
		_ = s.doRetry(s.life, func() {
			s.ended = append(old, s.ended...)
			s.endedSize += sum
			s.expire()
		})
	})
}

// keep registers a job that has ended; called by the loop.
func (s *Server) keep(id batch.JobID, ended batch.Time) {
	s.spawn(func() {
		f := finished{id: id, ended: ended, size: s.data.Size(id)}
		// An error means that the server is stopping; the job is registered after the restart.
		_ = s.doRetry(s.life, func() {
			s.ended = append(s.ended, f)
			s.endedSize += f.size
			s.expire()
		})
	})
}

// expire forgets ended jobs while they are too many, too large or too old, the oldest first; called
// by the loop.
func (s *Server) expire() {
	l := &s.cfg.Limits
	for len(s.ended) > 0 {
		old := s.ended[0]
		if len(s.ended) <= l.Finished && s.endedSize <= int64(l.FinishedSize) &&
			s.seen().Sub(old.ended) <= micros(l.FinishedFor) {
			return
		}
		s.ended = s.ended[1:]
		s.endedSize -= old.size
		if err := s.core.Forget(old.id); err != nil {
			s.log.Error("forgetting a job failed", "job", old.id, "error", err)
		}
	}
}

// discard removes the files of a job; called by the loop.
func (s *Server) discard(id batch.JobID) {
	away, err := s.data.Discard(id)
	if err != nil {
		s.log.Warn("removing a job directory failed", "job", id, "error", err)
		return
	}
	if away == "" {
		return
	}
	s.spawn(func() {
		if err := s.data.Remove(away); err != nil {
			s.log.Warn("removing a job directory failed", "job", id, "error", err)
		}
	})
}

// housekeep removes expired jobs, partial uploads and tombstones at intervals.
func (s *Server) housekeep() {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.life.Done():
			return
		}
		s.watchClock()
		// An error means that the disk is full or the server is stopping.
		_ = s.do(s.life, func() {
			s.expire()
			s.markSeen = true
		})
		if err := s.content.Tidy(); err != nil {
			s.log.Warn("removing old partial uploads failed", "error", err)
		}
		s.expireTombstones()
	}
}

// expireTombstones removes the records of jobs that ended long ago.
func (s *Server) expireTombstones() {
	for {
		n, err := s.store.Expire(int64(s.seen()), maxCalls)
		if err != nil {
			s.log.Warn("removing old tombstones failed", "error", err)
		}
		if n < maxCalls || err != nil {
			return
		}
	}
}
