package exec

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Snapshot returns the state after a pass. Attempts are in submission order, except that one
// that was placed last comes after those submitted before. Starting and paused attempts are
// among the running, reserved and held ones among the waiting.
func (s *System) Snapshot(ctx context.Context) (batch.Snapshot, error) {
	snap := batch.Snapshot{Platform: s.platform}
	err := s.ask(ctx, func(now batch.Time) {
		snap.Taken = wall(now)
		snap.Free = int32(s.alloc.Spare())
		var live []*attempt
		for _, a := range s.handles {
			if a != nil {
				live = append(live, a)
			}
		}
		slices.SortFunc(live, func(a, b *attempt) int { return cmp.Compare(a.order, b.order) })
		for _, a := range live {
			if a.waits() {
				snap.Waiting = append(snap.Waiting, s.found(a))
			} else {
				snap.Running = append(snap.Running, s.found(a))
			}
		}
	})
	if err != nil {
		return batch.Snapshot{}, fmt.Errorf("snapshot: %w", err)
	}
	return snap, nil
}

// Find returns the state of attempts, in the order of keys. Unknown and forgotten ones are
// left out.
func (s *System) Find(ctx context.Context, keys []batch.Key) ([]batch.Found, error) {
	var out []batch.Found
	err := s.ask(ctx, func(batch.Time) {
		for _, key := range keys {
			if a := s.attempts[key]; a != nil {
				out = append(out, s.found(a))
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find: %w", err)
	}
	return out, nil
}

// Watch returns the latest state of each attempt that changed after the cursor, oldest change
// first, and waits for the first change. It returns the error of ctx, ErrClosed when no more
// changes will come, and a *CursorError for a cursor that it cannot continue from.
func (s *System) Watch(ctx context.Context, after batch.Cursor) (batch.Changes, error) {
	for {
		var (
			got  batch.Changes
			err  error
			more <-chan struct{}
			last bool
		)
		asked := s.ask(ctx, func(batch.Time) {
			got, err = s.changes.since(after, s.found)
			more = s.changes.more
		})
		select {
		case <-s.done:
			last = true
		default:
		}
		switch {
		case asked != nil:
			return batch.Changes{}, asked
		case err != nil || len(got.Jobs) > 0:
			return got, err
		case last && got.Next == s.final():
			return got, ErrClosed
		case last:
			continue
		}
		select {
		case <-more:
		case <-s.done:
		case <-ctx.Done():
			return batch.Changes{}, ctx.Err()
		}
	}
}

// final returns the last cursor of a system after its loop has ended.
func (s *System) final() batch.Cursor { return batch.Cursor(s.changes.seq) }

// Estimate returns when each shape of each ask would start if it were submitted now, behind
// all waiting jobs. age is the age of the state behind the estimates when Estimate returns;
// starts are on the clock of Now. ok is false when neither the policy nor the forecaster has
// an estimate.
func (s *System) Estimate(
	ctx context.Context, asks []batch.Ask,
) (ests []batch.Estimate, age batch.Duration, ok bool, err error) {
	for i := range asks {
		if err := asks[i].Validate(); err != nil {
			return nil, 0, false, fmt.Errorf("asks[%d]: %w", i, err)
		}
	}
	var at batch.Time
	var gone error
	err = s.ask(ctx, func(now batch.Time) {
		at = now
		if s.closing {
			gone = ErrClosed
			return
		}
		if s.retired {
			gone = s.Err()
			return
		}
		ests = make([]batch.Estimate, len(asks))
		ok = s.estimate(now, asks, ests)
	})
	if err = cmp.Or(err, gone); err != nil {
		return nil, 0, false, fmt.Errorf("estimate: %w", err)
	}
	if !ok {
		ests = nil
	}
	return ests, max(s.Now().Sub(at), 0), ok, nil
}

// estimate asks the policy, or else the forecaster.
func (s *System) estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	return s.policy.Estimate(now, asks, out) == nil || s.forecaster != nil && s.forecaster.Estimate(now, s.policy, asks,
		out)
}

// EstimateInside is Estimate for jobs that are submitted into a reservation. ok is also false
// for one that does not exist.
func (s *System) EstimateInside(
	ctx context.Context, reservation batch.Key, asks []batch.Ask,
) (ests []batch.Estimate, ok bool, err error) {
	for i := range asks {
		if err := asks[i].Validate(); err != nil {
			return nil, false, fmt.Errorf("asks[%d]: %w", i, err)
		}
	}
	var gone error
	err = s.ask(ctx, func(now batch.Time) {
		w := s.windows[reservation]
		switch {
		case s.closing:
			gone = ErrClosed
		case s.retired:
			gone = s.Err()
		case w != nil && !w.ending && !w.closed:
			for i := range asks {
				asks[i].Job.Into = w.job.Handle
			}
			ests = make([]batch.Estimate, len(asks))
			ok = s.estimate(now, asks, ests)
		}
	})
	if err = cmp.Or(err, gone); err != nil {
		return nil, false, fmt.Errorf("estimate in a reservation: %w", err)
	}
	return ests, ok, nil
}

// Inspect calls see with the policy after a pass. see must only read.
func (s *System) Inspect(ctx context.Context, see func(batch.Policy)) error {
	err := s.ask(ctx, func(batch.Time) { see(s.policy) })
	if err != nil {
		return fmt.Errorf("inspect policy: %w", err)
	}
	return nil
}

// changes keeps the attempts in the order of their last change, so the changes after a cursor
// are a tail of the list. It needs one link for each attempt, however often it changes.
type changes struct {
	head, tail *attempt
	seq        uint64        // of the last change
	lost       uint64        // highest number of a forgotten change
	ring       []*attempt    // the ended ones, to forget the oldest
	oldest     int           // its index in ring, once ring is full
	announced  uint64        // the last change that was announced
	more       chan struct{} // closed at the next change
}

func newChanges() changes { return changes{more: make(chan struct{})} }

// touch makes a the attempt that changed last.
func (c *changes) touch(a *attempt) {
	c.unlink(a)
	c.seq++
	a.seq = c.seq
	a.prev = c.tail
	if c.tail == nil {
		c.head = a
	} else {
		c.tail.next = a
	}
	c.tail = a
}

func (c *changes) unlink(a *attempt) {
	if a.seq == 0 {
		return
	}
	if a.prev == nil {
		c.head = a.next
	} else {
		a.prev.next = a.next
	}
	if a.next == nil {
		c.tail = a.prev
	} else {
		a.next.prev = a.prev
	}
	a.prev, a.next = nil, nil
}

// retire files a, which has ended and will not change any more. If there are more than retain
// of them, it removes and returns the oldest.
func (c *changes) retire(a *attempt, retain int) *attempt {
	if len(c.ring) < retain {
		c.ring = append(c.ring, a)
		return nil
	}
	old := c.ring[c.oldest]
	c.ring[c.oldest] = a
	c.oldest = (c.oldest + 1) % retain
	c.unlink(old)
	c.lost = max(c.lost, old.seq)
	return old
}

// announce wakes the watchers if an attempt has changed since the last call.
func (c *changes) announce() {
	if c.seq > c.announced {
		c.announced = c.seq
		close(c.more)
		c.more = make(chan struct{})
	}
}

// since returns the changes after the cursor, oldest first, converted by found.
func (c *changes) since(after batch.Cursor, found func(*attempt) batch.Found) (batch.Changes, error) {
	if uint64(after) > c.seq || after != 0 && uint64(after) < c.lost {
		return batch.Changes{}, &CursorError{After: after, Oldest: batch.Cursor(c.lost), Newest: batch.Cursor(c.seq)}
	}
	out := batch.Changes{Next: batch.Cursor(c.seq)}
	for a := c.tail; a != nil && a.seq > uint64(after); a = a.prev {
		out.Jobs = append(out.Jobs, found(a))
	}
	slices.Reverse(out.Jobs)
	return out, nil
}

// Standing estimates when a waiting attempt will start, and when it will end at the latest,
// from its current position and shape. Instants are on the clock of Now. ok is false, and
// both are batch.Never, for an attempt that is reserved, held, started or ended, and when
// there is no estimate. The error for an unknown attempt is a *batch.CommandError.
func (s *System) Standing(ctx context.Context, key batch.Key) (start, end batch.Time, ok bool, err error) {
	start, end = batch.Never, batch.Never
	var gone error
	err = s.ask(ctx, func(now batch.Time) {
		a := s.attempts[key]
		switch {
		case s.closing:
			gone = ErrClosed
		case a == nil:
			gone = refuse(key, ReasonUnknownJob, "no attempt %d of epoch %d", key.Attempt, key.Epoch)
		case a.phase != batch.PhaseQueued:
		case s.retired:
			gone = s.Err()
		default:
			start, end = s.standing(now, a)
		}
	})
	if err = cmp.Or(err, gone); err != nil {
		return batch.Never, batch.Never, false, fmt.Errorf("standing of a job: %w", err)
	}
	return start, end, start != batch.Never, nil
}

func (s *System) standing(now batch.Time, a *attempt) (start, end batch.Time) {
	asks := []batch.Ask{{Job: a.job, Shapes: []batch.Shape{a.shape}}}
	out := make([]batch.Estimate, 1)
	if !s.estimate(now, asks, out) || out[0].Starts[0] == batch.Never {
		return batch.Never, batch.Never
	}
	return out[0].Starts[0], out[0].End(0, a.shape.Walltime)
}
