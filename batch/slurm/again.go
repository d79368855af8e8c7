package slurm

import "github.com/seed-9b8f70bb/drover/batch"

// startedAgain returns the starts of attempts that had been started before, as they
// have left word of it.
func (s *System) startedAgain() []Start {
	if s.cfg.Witness == nil {
		return nil
	}
	all, err := s.cfg.Witness.Again()
	if err != nil {
		s.log.Warn("word of attempts that were started again", "error", err)
	}
	return all
}

// twice notes, and says once, that Slurm has started an attempt again that had begun,
// or was about to: it goes on from a state in which that one still waited. One that
// has ended meanwhile, or is of an earlier life, is only reported. Called with mu held.
func (s *System) twice(key batch.Key, by string) {
	a := s.attempts[key]
	if a != nil && a.twice {
		return
	}
	if a != nil {
		a.twice = true
	}
	s.log.Error("Slurm has lost sight of an attempt that has begun, and starts it again: it runs once all the same",
		"job", key.Job, "epoch", key.Epoch, "attempt", key.Attempt, "again", by)
}
