package external

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Snapshot returns the cluster as the last poll showed it, and Drover's attempts as
// they are now.
func (s *System) Snapshot(context.Context) (batch.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := batch.Snapshot{Taken: s.view.taken, Platform: s.view.nodes.Platform()}
	live := make([]*attempt, 0, len(s.queue))
	for _, a := range s.attempts {
		if a.live() {
			live = append(live, a)
		}
	}
	slices.SortFunc(live, byPosition)
	for _, a := range live {
		if a.waits() {
			snap.Waiting = append(snap.Waiting, a.found())
		} else {
			snap.Running = append(snap.Running, a.found())
		}
	}
	snap.Free = snap.Platform.Width()
	for i := range s.view.jobs {
		j := &s.view.jobs[i]
		if !s.view.nodes.contains(j.Partitions) {
			continue
		}
		if j.started() {
			snap.Free = max(snap.Free-j.Processors, 0)
		}
		if _, own := Identify(s.cfg.Site, j.Name, j.Comment); own {
			continue
		}
		o := batch.Other{Shape: batch.Shape{Width: j.Processors, Walltime: j.Limit}}
		if j.started() {
			o.Started = j.Start
		} else {
			o.Planned = j.Start
		}
		snap.Others = append(snap.Others, o)
	}
	return snap, nil
}

func byPosition(a, b *attempt) int { return cmp.Compare(a.position, b.position) }

// Find returns the states of attempts in the order of keys, without those that it does
// not know or has forgotten.
func (s *System) Find(_ context.Context, keys []batch.Key) ([]batch.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []batch.Found
	for _, key := range keys {
		if a := s.attempts[key]; a != nil {
			out = append(out, a.found())
		}
	}
	return out, nil
}

// Watch waits for changes after the cursor and returns the latest state of each
// changed attempt, oldest change first. It returns the error of ctx, ErrClosed when no
// changes can follow, and a *CursorError for a cursor that it cannot continue from.
func (s *System) Watch(ctx context.Context, after batch.Cursor) (batch.Changes, error) {
	for {
		s.mu.Lock()
		got, err := s.changes.after(after)
		more := s.changes.more
		s.mu.Unlock()
		if err != nil || len(got.Jobs) > 0 {
			return got, err
		}
		select {
		case <-more:
			continue
		default:
		}
		select {
		case <-more:
		case <-s.done:
			return got, ErrClosed
		case <-ctx.Done():
			return batch.Changes{}, ctx.Err()
		}
	}
}

// Estimate says when each shape of each ask would start if it were submitted now,
// behind all waiting jobs, by the model of the last poll. age is the age of that poll.
// ok is false when there is no model. The error is an *UnknownError when the last poll
// is older than Stale.
func (s *System) Estimate(
	_ context.Context, asks []batch.Ask,
) (ests []batch.Estimate, age batch.Duration, ok bool, err error) {
	for i := range asks {
		if err := asks[i].Validate(); err != nil {
			return nil, 0, false, fmt.Errorf("asks[%d]: %w", i, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if age, err = s.age(); err != nil || s.model == nil {
		return nil, age, false, err
	}
	ests, ok = s.estimate(asks)
	return ests, age, ok, nil
}

// RoughEstimate is Estimate for jobs that will wait in the local queue while the state
// of the cluster is unknown: by the last poll, however old, or for an empty cluster if
// there was none. It only serves to choose a shape. ok is false when MaxUnseen jobs
// already wait in the local queue, and when the model gives no answer.
func (s *System) RoughEstimate(_ context.Context, asks []batch.Ask) (ests []batch.Estimate, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= s.cfg.MaxUnseen {
		return nil, false
	}
	for i := range asks {
		if asks[i].Validate() != nil {
			return nil, false
		}
	}
	if s.model != nil {
		return s.estimate(asks)
	}
	ests = make([]batch.Estimate, len(asks))
	now := s.Now()
	for i := range asks {
		ests[i].Kind = batch.Forecast
		for range asks[i].Shapes {
			ests[i].Starts = append(ests[i].Starts, max(now, asks[i].From))
		}
	}
	return ests, true
}

// estimate answers asks by the model. Called with mu held.
func (s *System) estimate(asks []batch.Ask) ([]batch.Estimate, bool) {
	ests := make([]batch.Estimate, len(asks))
	if !s.forecaster.Estimate(s.model.now, s.model.policy, s.model.asks(asks), ests) {
		return nil, false
	}
	now := s.Now()
	for i := range ests {
		advance(&ests[i], now)
	}
	return ests, true
}

// advance moves an estimate from the model's instant to now: what could have started
// before starts now. A cluster keeps no promises of the model's policy.
func advance(e *batch.Estimate, now batch.Time) {
	e.Kind, e.P = batch.Forecast, 0
	for i, start := range e.Starts {
		if start >= now {
			continue
		}
		e.Starts[i] = now
		if len(e.Ends) > 0 {
			e.Ends[i] = e.Ends[i].Add(now.Sub(start))
		}
	}
}

// age returns the age of the last poll.
func (s *System) age() (batch.Duration, error) {
	if !s.view.first {
		return 0, &UnknownError{Why: s.view.why}
	}
	age := time.Since(s.view.taken)
	if age > s.cfg.Stale {
		return micros(age), &UnknownError{Since: s.view.taken, Why: s.view.why}
	}
	return micros(age), nil
}

// Standing says when a waiting attempt would start, and end at the latest. If the
// cluster plans a later start than the model, that start counts. ok is false for an
// attempt that is reserved, held, started or ended, and when there is no answer.
func (s *System) Standing(_ context.Context, key batch.Key) (start, end batch.Time, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[key]
	if a == nil {
		err := refuse(key, ReasonUnknownJob, "no attempt %d of epoch %d", key.Attempt, key.Epoch)
		return batch.Never, batch.Never, false, err
	}
	if _, err := s.age(); err != nil {
		return batch.Never, batch.Never, false, err
	}
	if s.model == nil || a.phase != batch.PhaseQueued || a.desired != wantRun {
		return batch.Never, batch.Never, false, nil
	}
	m := s.model.own[key]
	if m == nil {
		return batch.Never, batch.Never, false, nil
	}
	now := s.Now()
	if m.started { // the cluster is about to
		return now, now.Add(a.shape.Walltime), true, nil
	}
	out := make([]batch.Estimate, 1)
	if !s.forecaster.Estimate(s.model.now, s.model.policy, []batch.Ask{m.ask()}, out) ||
		out[0].Starts[0] == batch.Never {
		return batch.Never, batch.Never, false, nil
	}
	advance(&out[0], now)
	return out[0].Starts[0], out[0].End(0, a.shape.Walltime), true, nil
}
