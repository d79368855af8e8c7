package slurm

import (
	"maps"
	"slices"
	"time"
)

// mostOrders is how many jobs one command holds, releases or cancels.
const mostOrders = 200

// steer is the goroutine that asks Slurm to hold, release and cancel what it has:
// many jobs with one command. Whether it was done the next look says; what was not
// is asked for again.
func (s *System) steer() {
	for {
		select {
		case <-s.act:
		case <-s.life.Done():
			return
		}
		for s.steerOnce() {
			s.poke(s.look)
		}
	}
}

// steerOnce does what is due and says whether there was anything.
func (s *System) steerOnce() bool {
	now := time.Now()
	ids := make(map[verb][]string)
	s.mu.Lock()
	for _, key := range slices.SortedFunc(maps.Keys(s.due), compareKeys) {
		a := s.due[key]
		v := a.due(now)
		if v == nothing || len(ids[v]) == mostOrders {
			if v == nothing {
				delete(s.due, key)
			}
			continue
		}
		a.asked, a.when = v, now
		ids[v] = append(ids[v], a.id)
		delete(s.due, key)
	}
	s.mu.Unlock()
	did := false
	for _, v := range []verb{doCancel, doHold, doRelease} {
		if len(ids[v]) == 0 {
			continue
		}
		did = true
		var err error
		switch v {
		case doCancel:
			err = s.c.Cancel(s.life, ids[v]...)
		case doHold:
			err = s.c.Hold(s.life, ids[v]...)
		case doRelease:
			err = s.c.Release(s.life, ids[v]...)
		}
		switch {
		case err == nil || s.life.Err() != nil:
		case goneFrom(err):
			s.log.Debug("a job has started or ended before it was told to", "error", err)
		default:
			s.log.Warn("Slurm was asked, and will be again", "jobs", len(ids[v]), "error", err)
		}
	}
	return did
}
