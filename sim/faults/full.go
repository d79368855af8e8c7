package faults

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

var errFull = errors.New("the disk is full")

// Undo implements loop.Store. A core is made from what is on the disk: with a new batch
// system, as after a restart, or under the old one.
func (s *server) Undo(error) {
	s.w.counts[DiskFull]++
	s.w.say(s, nil, "the disk is full")
	if s.w.plant == KeptQueue || s.w.chance(500) {
		s.rebuild()
	} else {
		s.die()
		s.boot()
	}
}

// rebuild makes the core anew and keeps the batch system. Attempts that the core
// has forgotten are cancelled there, and their names are used up. Otherwise jobs
// that are submitted anew are not queued under the same key, and the news of an
// end meets another job.
func (s *server) rebuild() {
	core, err := site.New(s.config)
	if err != nil {
		panic(violation(err.Error()))
	}
	s.core, s.ended = core, 0
	s.remember()
	s.recount()
	unsettled := s.core.Unsettled()
	fates := make([]site.Fate, len(unsettled))
	for i, key := range unsettled {
		fates[i] = s.fateOf(key)
	}
	s.undone()
	if err := s.core.Recover(s.now(), fates); err != nil {
		panic(violation(err.Error()))
	}
	s.loop.Replace(s.core)
	s.plan()
	s.armed, s.due = batch.Never, true
}

// fateOf is fate for an attempt that the batch system may be about to tell of.
func (s *server) fateOf(key batch.Key) site.Fate {
	starting := site.Fate{Found: batch.Found{Key: key, Phase: batch.PhaseStarting}}
	j, err := s.core.Job(key.Job)
	if err != nil {
		panic(violation(err.Error()))
	}
	if a := s.system.attempts[key]; a != nil && a.phase >= batch.PhaseStarting &&
		(j.State == site.Starting || j.State == site.Running || j.Started != batch.Never) {
		return starting
	}
	f := s.fate(key)
	if !f.Won && f.Found.Phase == batch.PhaseRunning {
		return starting
	}
	return f
}

// undone takes what the core does not know any more out of the batch system.
func (s *server) undone() {
	now := s.now()
	s.system.engine.Advance(now)
	for _, a := range s.system.byHandle[1:] {
		j, err := s.core.Job(a.key.Job)
		if err == nil && j.Key() == a.key {
			continue
		}
		s.voided = append(s.voided, a.key)
		if a.phase < batch.PhaseStarting {
			s.system.carry(&batch.Command{Kind: batch.CmdCancel, Key: a.key})
		}
	}
	if s.w.plant != KeptQueue {
		for _, key := range s.voided {
			s.core.Void(key)
		}
	}
	s.system.engine.Pass()
}
