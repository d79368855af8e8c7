package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// UnknownError says that nobody knows how Slurm is: it has not answered for too
// long. It says nothing about what runs there.
type UnknownError struct {
	Since time.Time // the last answer; zero: there was none
	Why   string
}

// Error says how long ago the last answer was, and what is wrong.
func (e *UnknownError) Error() string {
	why := cmp.Or(e.Why, "it was not asked yet")
	if e.Since.IsZero() {
		return "Slurm has not answered yet: " + why
	}
	return fmt.Sprintf("Slurm has not answered since %s: %s", e.Since.UTC().Format(time.RFC3339), why)
}

// Snapshot returns what the last look has shown, and Drover's own attempts as they
// are now.
func (s *System) Snapshot(context.Context) (batch.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := batch.Snapshot{Taken: s.view.taken, Platform: platform(s.view.nodes)}
	live := make([]*attempt, 0, len(s.outside))
	for _, a := range s.attempts {
		if a.live() {
			live = append(live, a)
		}
	}
	slices.SortFunc(live, func(a, b *attempt) int { return cmp.Compare(a.order, b.order) })
	for _, a := range live {
		if a.waits() {
			snap.Waiting = append(snap.Waiting, a.told())
		} else {
			snap.Running = append(snap.Running, a.told())
		}
	}
	snap.Free = snap.Platform.Width()
	for i := range s.view.rows {
		r := &s.view.rows[i]
		if !s.view.concerns(r.Partition) {
			continue
		}
		runs := phaseOf(r, true) >= batch.PhaseStarting
		if runs {
			snap.Free = max(snap.Free-r.CPUs, 0)
		}
		if _, own := identify(s.cfg.Site, r.Name, r.Comment); own {
			continue
		}
		o := batch.Other{Shape: batch.Shape{Width: r.CPUs, Walltime: r.Limit}}
		if runs {
			o.Started = r.Start
		} else {
			o.Planned = r.Start
		}
		snap.Others = append(snap.Others, o)
	}
	return snap, nil
}

// Find says what became of attempts, in the order of keys; those it does not know,
// or has forgotten, are left out.
func (s *System) Find(_ context.Context, keys []batch.Key) ([]batch.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []batch.Found
	for _, key := range keys {
		if a := s.attempts[key]; a != nil {
			out = append(out, a.told())
		}
	}
	return out, nil
}

// Watch returns the latest state of each attempt that changed after the cursor,
// oldest change first, and waits for the first one. It returns the error of ctx
// when that ends before, ErrClosed when there is nothing more to come, and a
// *CursorError for a cursor it cannot go on from.
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

// Estimate answers when each shape of each ask would start if it were submitted
// now, behind all that waits, by a model of the cluster as the last look has shown
// it. age is how old that look is. ok is false when nothing can be said; the error
// is an *UnknownError when Slurm has not answered for too long.
func (s *System) Estimate(_ context.Context, asks []batch.Ask) (ests []batch.Estimate, age batch.Duration, ok bool, err error) {
	for i := range asks {
		if err := checkAsk(&asks[i]); err != nil {
			return nil, 0, false, fmt.Errorf("asks[%d]: %w", i, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if age, err = s.age(); err != nil || s.model == nil {
		return nil, age, false, err
	}
	own := make([]batch.Ask, len(asks))
	for i := range asks {
		own[i] = s.model.ask(&asks[i])
	}
	ests = make([]batch.Estimate, len(asks))
	if !s.forecaster.Estimate(s.model.now, s.model.policy, own, ests) {
		return nil, age, false, nil
	}
	now := s.Now()
	for i := range ests {
		present(&ests[i], now)
	}
	return ests, age, true, nil
}

// present makes an estimate of the model's instant one of now: what could have
// started before starts now. Whatever the model's policy promises Slurm does not.
func present(e *batch.Estimate, now batch.Time) {
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

// ask is a question in the words of the model: walltimes are whole minutes.
func (m *model) ask(a *batch.Ask) batch.Ask {
	job := *a.Job
	job.Handle, job.Memory = batch.NoJob, 0
	own := batch.Ask{Job: &job, From: a.From, Shapes: make([]batch.Shape, len(a.Shapes))}
	for i, shape := range a.Shapes {
		own.Shapes[i] = batch.Shape{Width: shape.Width, Walltime: min(Limit(shape.Walltime), longest)}
	}
	return own
}

// age returns how old the last look is.
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

func micros(d time.Duration) batch.Duration { return batch.Duration(max(d, 0) / time.Microsecond) }

// Standing says when a waiting attempt would start, and end at the latest, as
// things stand: Slurm's own plan where it has made one that is later than the
// model's. ok is false for one that is reserved, held, started or ended, and where
// nobody can say.
func (s *System) Standing(_ context.Context, key batch.Key) (start, end batch.Time, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempts[key]
	if a == nil {
		return batch.Never, batch.Never, false, refuse(key, ReasonUnknownJob, "no attempt %d of epoch %d", key.Attempt, key.Epoch)
	}
	if _, err := s.age(); err != nil {
		return batch.Never, batch.Never, false, err
	}
	if s.model == nil || a.phase != batch.PhaseQueued || a.want != toRun {
		return batch.Never, batch.Never, false, nil
	}
	st := s.model.own[key]
	if st == nil {
		return batch.Never, batch.Never, false, nil
	}
	now := s.Now()
	if st.started { // Slurm will do so in a moment
		return now, now.Add(a.shape.Walltime), true, nil
	}
	ask := batch.Ask{Job: st.job, Shapes: []batch.Shape{st.job.Shape}}
	out := make([]batch.Estimate, 1)
	if !s.forecaster.Estimate(s.model.now, s.model.policy, []batch.Ask{ask}, out) || out[0].Starts[0] == batch.Never {
		return batch.Never, batch.Never, false, nil
	}
	present(&out[0], now)
	return out[0].Starts[0], out[0].End(0, a.shape.Walltime), true, nil
}

func checkAsk(ask *batch.Ask) error {
	if ask.Job == nil {
		return fmt.Errorf("job: missing")
	}
	if len(ask.Shapes) == 0 {
		return fmt.Errorf("shapes: none, accepted: at least 1")
	}
	for i, sh := range ask.Shapes {
		if sh.Width < 1 || sh.Walltime < 1 {
			return fmt.Errorf("shapes[%d]: %v, accepted: width at least 1, walltime more than 0s", i, sh)
		}
		if i > 0 && sh.Width < ask.Shapes[i-1].Width {
			return fmt.Errorf("shapes[%d]: width %d after %d, accepted: ascending widths", i, sh.Width, ask.Shapes[i-1].Width)
		}
	}
	return nil
}
