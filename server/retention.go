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

// expireEvery is how often the server looks for what has been kept long enough.
const expireEvery = time.Minute

// keepFinished takes up the jobs that have ended in an earlier life, beside the
// loop: there may be many files to be looked at.
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
		slices.SortFunc(old, func(a, b finished) int { return cmp.Or(cmp.Compare(a.ended, b.ended), cmp.Compare(a.id, b.id)) })
		// An error is the end of the server: the next one finds the jobs.
		_ = s.doRetry(s.life, func() {
			s.ended = append(old, s.ended...)
			s.endedSize += sum
			s.expire()
		})
	})
}

// keep notes that a job has ended and is kept; called by the loop.
func (s *Server) keep(id batch.JobID, ended batch.Time) {
	s.spawn(func() {
		f := finished{id: id, ended: ended, size: s.data.Size(id)}
		// An error is the end of the server: the next one finds the job.
		_ = s.doRetry(s.life, func() {
			s.ended = append(s.ended, f)
			s.endedSize += f.size
			s.expire()
		})
	})
}

// expire forgets the jobs that have ended and are too many, too large or too old,
// the oldest first; called by the loop.
func (s *Server) expire() {
	l := &s.cfg.Limits
	for len(s.ended) > 0 {
		old := s.ended[0]
		if len(s.ended) <= l.Finished && s.endedSize <= int64(l.FinishedSize) && s.now().Sub(old.ended) <= micros(l.FinishedFor) {
			return
		}
		s.ended = s.ended[1:]
		s.endedSize -= old.size
		if err := s.core.Forget(old.id); err != nil {
			s.log.Error("forgetting a job", "job", old.id, "error", err)
		}
	}
}

// discard removes the files of a job; called by the loop.
func (s *Server) discard(id batch.JobID) {
	away, err := s.data.Discard(id)
	if err != nil {
		s.log.Warn("removing a job's directory", "job", id, "error", err)
		return
	}
	if away == "" {
		return
	}
	s.spawn(func() {
		if err := s.data.Remove(away); err != nil {
			s.log.Warn("removing a job's directory", "job", id, "error", err)
		}
	})
}

// housekeep drops what has been kept long enough, now and then.
func (s *Server) housekeep() {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.life.Done():
			return
		}
		// An error is that of a full disk, or of the end.
		_ = s.do(s.life, s.expire)
		if err := s.content.Tidy(); err != nil {
			s.log.Warn("dropping old parts of content", "error", err)
		}
		for {
			n, err := s.store.Expire(int64(s.now()), maxCalls)
			if err != nil {
				s.log.Warn("dropping old tombstones", "error", err)
			}
			if n < maxCalls || err != nil {
				break
			}
		}
	}
}
