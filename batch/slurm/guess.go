package slurm

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Guess is Estimate for what is to wait here though nobody knows how Slurm is: by the
// last look, however old, and as if nothing were in the way if there was none. It is
// good for choosing a shape, and for nothing else. ok is false when as many jobs wait
// here as may do so then, and when nothing can be said.
func (s *System) Guess(_ context.Context, asks []batch.Ask) (ests []batch.Estimate, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.outside) >= s.cfg.Unseen {
		return nil, false
	}
	for i := range asks {
		if checkAsk(&asks[i]) != nil {
			return nil, false
		}
	}
	ests = make([]batch.Estimate, len(asks))
	now := s.Now()
	if s.model == nil {
		for i := range asks {
			ests[i].Kind = batch.Forecast
			for range asks[i].Shapes {
				ests[i].Starts = append(ests[i].Starts, max(now, asks[i].From))
			}
		}
		return ests, true
	}
	own := make([]batch.Ask, len(asks))
	for i := range asks {
		own[i] = s.model.ask(&asks[i])
	}
	if !s.forecaster.Estimate(s.model.now, s.model.policy, own, ests) {
		return nil, false
	}
	for i := range ests {
		present(&ests[i], now)
	}
	return ests, true
}
