package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/needs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

const (
	// measuredEvery is the time between two writings of what was found out of the jobs
	// that run: what a server that is killed has to find out anew, at most.
	measuredEvery = time.Minute
	// forgetFound is how long what was found out of an attempt that has ended waits to be
	// taken.
	forgetFound = 10 * time.Minute
	// moreMemory is the part by which the highest use of memory grows before it is written
	// again.
	moreMemory = 16
)

// keepMeasured has what is found out of jobs kept with them: now and then of those that
// run, all in one transaction, and of the rest when the server stops. The end of a job
// takes its own along.
func (s *Server) keepMeasured() {
	tick := time.NewTicker(cmp.Or(s.cfg.measured, measuredEvery))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.noteMeasured(s.life)
		case <-s.life.Done():
			s.noteMeasured(context.WithoutCancel(s.life))
			return
		}
	}
}

// noteMeasured writes what has changed. What finds no room on the disk is written another
// time.
func (s *Server) noteMeasured(ctx context.Context) {
	news := s.shared.gauge.news()
	if len(news) == 0 {
		return
	}
	err := s.do(ctx, func() {
		for _, n := range news {
			s.core.Measured(n.key, measuredOf(n.found))
		}
	})
	if err != nil {
		s.log.Debug("what jobs need was not written", "error", err)
		return
	}
	s.shared.gauge.wrote(news)
}

// takeMeasured returns what was found out of an attempt that has ended.
func (s *Server) takeMeasured(key batch.Key) (m site.Measured, known bool) {
	if s.shared == nil {
		return m, false
	}
	found, known := s.shared.gauge.take(key)
	return measuredOf(found), known
}

// Measured returns what was measured of a job: up to now if it runs, otherwise up to
// the last write.
func (s *Server) Measured(j *site.Job) (m site.Measured, known bool) {
	if s.shared != nil {
		if found, known := s.shared.gauge.found(j.Key()); known {
			return measuredOf(found), true
		}
	}
	if j.Measured == nil {
		return m, false
	}
	return *j.Measured, true
}

func measuredOf(n needs.Need) site.Measured { return site.Measured{CPU: n.CPU, Memory: n.Memory} }

// finding is what was found out of an attempt.
type finding struct {
	key   batch.Key
	found needs.Need
}

// knows says whether something was found out of it.
func (it *gauged) knows() bool { return !it.at.IsZero() || it.kept != needs.Need{} }

// found returns what was found out of an attempt, false if nothing was.
func (g *gauge) found(key batch.Key) (needs.Need, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	it := g.jobs[key]
	if it == nil || !it.knows() {
		return needs.Need{}, false
	}
	return it.need.Found(), true
}

// take is found of an attempt that has ended, which is forgotten with it.
func (g *gauge) take(key batch.Key) (needs.Need, bool) {
	found, known := g.found(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.jobs, key)
	return found, known
}

// news returns what was found out and is worth writing, in the order of the jobs.
func (g *gauge) news() []finding {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []finding
	for key, it := range g.jobs {
		found := it.need.Found()
		if it.knows() && worthWriting(it.kept, found) {
			all = append(all, finding{key, found})
		}
	}
	slices.SortFunc(all, func(a, b finding) int { return cmp.Compare(a.key.Job, b.key.Job) })
	return all
}

// wrote notes that these are on disk.
func (g *gauge) wrote(all []finding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range all {
		if it := g.jobs[f.key]; it != nil {
			it.kept = f.found
		}
	}
}

// worthWriting says whether something else was found out than what is on disk.
func worthWriting(kept, found needs.Need) bool {
	cpu := found.CPU - kept.CPU
	return cpu >= needs.Step || cpu <= -needs.Step || found.Memory > kept.Memory+kept.Memory/moreMemory
}
