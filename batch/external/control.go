package external

import (
	"maps"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// controlLoop asks the cluster to hold, release and cancel jobs, many with one
// command. The next poll shows the effect; actions without effect are repeated.
func (s *System) controlLoop() {
	for {
		select {
		case <-s.actNow:
		case <-s.life.Done():
			return
		}
		for s.controlOnce() {
			wake(s.pollNow)
		}
	}
}

// target is a job in the cluster that needs an action.
type target struct {
	key batch.Key
	id  string
}

// controlOnce carries out the actions that are due and reports whether there were any.
func (s *System) controlOnce() bool {
	due := s.collect()
	if len(due) == 0 {
		return false
	}
	if err := s.verify(due); err != nil {
		s.log.Warn("job IDs not verified, actions will be repeated", "error", err)
		return true
	}
	for _, action := range []Action{Cancel, Hold, Release} {
		var ids []string
		for _, t := range due[action] {
			ids = append(ids, t.id)
		}
		if len(ids) == 0 {
			continue
		}
		err := s.cluster.Control(s.life, action, ids)
		switch {
		case err == nil || s.life.Err() != nil:
		case gone(err):
			s.log.Debug("job started or ended before an action", "error", err)
		default:
			s.log.Warn("action failed, it will be repeated", "jobs", len(ids), "error", err)
		}
	}
	return true
}

// collect takes the actions that are due, at most maxActions of each kind.
func (s *System) collect() map[Action][]target {
	now := time.Now()
	due := make(map[Action][]target)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.SortedFunc(maps.Keys(s.pending), compareKeys) {
		a := s.pending[key]
		action := a.due(now)
		if action == 0 {
			delete(s.pending, key)
		}
		if action == 0 || len(due[action]) == maxActions {
			continue
		}
		a.lastAction, a.actionAt = action, now
		due[action] = append(due[action], target{key, a.id})
		delete(s.pending, key)
	}
	return due
}

// verify removes targets if their ID now belongs to another job: a controller that lost
// its state reuses IDs.
func (s *System) verify(due map[Action][]target) error {
	var ids []string
	for _, list := range due {
		for _, t := range list {
			ids = append(ids, t.id)
		}
	}
	slices.Sort(ids)
	records, err := s.cluster.Lookup(s.life, ids, nil)
	if err != nil {
		return err
	}
	verified := make(map[target]bool, len(records))
	for i := range records {
		if key, ok := Identify(s.cfg.Site, records[i].Name, records[i].Comment); ok {
			verified[target{key, records[i].ID}] = true
		}
	}
	for action, list := range due {
		due[action] = slices.DeleteFunc(list, func(t target) bool { return !verified[t] })
	}
	return nil
}
