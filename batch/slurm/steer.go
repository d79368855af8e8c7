package slurm

import (
	"maps"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
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

// target is a job of Slurm's that is asked for something.
type target struct {
	key batch.Key
	id  string
}

// steerOnce does what is due and says whether there was anything.
func (s *System) steerOnce() bool {
	due := s.collect()
	if len(due) == 0 {
		return false
	}
	if err := s.verify(due); err != nil {
		s.log.Warn("Slurm was to be asked, and will be", "error", err)
		return true
	}
	for _, v := range []verb{doCancel, doHold, doRelease} {
		var ids []string
		for _, t := range due[v] {
			ids = append(ids, t.id)
		}
		if len(ids) == 0 {
			continue
		}
		var err error
		switch v {
		case doCancel:
			err = s.c.Cancel(s.life, ids...)
		case doHold:
			err = s.c.Hold(s.life, ids...)
		case doRelease:
			err = s.c.Release(s.life, ids...)
		}
		switch {
		case err == nil || s.life.Err() != nil:
		case goneFrom(err):
			s.log.Debug("a job has started or ended before it was told to", "error", err)
		default:
			s.log.Warn("Slurm was asked, and will be again", "jobs", len(ids), "error", err)
		}
	}
	return true
}

// collect takes what is due, as much as one command of each kind does.
func (s *System) collect() map[verb][]target {
	now := time.Now()
	due := make(map[verb][]target)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.SortedFunc(maps.Keys(s.due), compareKeys) {
		a := s.due[key]
		v := a.due(now)
		if v == nothing {
			delete(s.due, key)
		}
		if v == nothing || len(due[v]) == mostOrders {
			continue
		}
		a.asked, a.when = v, now
		due[v] = append(due[v], target{key, a.id})
		delete(s.due, key)
	}
	return due
}

// verify leaves only those that Slurm has under these numbers now, by their names: a
// controller that was killed may have given the number of one that it has forgotten to
// another one.
func (s *System) verify(due map[verb][]target) error {
	var ids []string
	for _, list := range due {
		for _, t := range list {
			ids = append(ids, t.id)
		}
	}
	slices.Sort(ids)
	rows, err := s.c.Jobs(s.life, ids)
	if err != nil {
		return err
	}
	is := make(map[target]bool, len(rows))
	for i := range rows {
		if key, ok := identify(s.cfg.Site, rows[i].Name, rows[i].Comment); ok {
			is[target{key, rows[i].ID}] = true
		}
	}
	for v, list := range due {
		due[v] = slices.DeleteFunc(list, func(t target) bool { return !is[t] })
	}
	return nil
}
