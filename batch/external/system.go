package external

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
)

// System is a Cluster as a site's batch system. Its methods may be called from several
// goroutines. None but Close waits for the cluster.
type System struct {
	cfg     Config
	cluster Cluster
	title   string // of the cluster
	log     hclog.Logger
	base    time.Time
	epoch   batch.Time

	life      context.Context // of all background work
	die       context.CancelCauseFunc
	work      sync.WaitGroup
	pollNow   chan struct{} // capacity 1: a poll is wanted soon
	actNow    chan struct{} // capacity 1: an action is due
	done      chan struct{} // closed at the end
	slots     chan struct{} // one per submission under way
	firstPoll chan struct{} // closed by the first poll

	mu           sync.Mutex
	closed       bool
	attempts     map[batch.Key]*attempt
	queue        []*attempt // the local queue, by position
	pending      map[batch.Key]*attempt
	submissions  int // under way
	queued       int // own jobs that wait in the cluster, by the last poll and submissions since
	lastPosition uint64
	changes      changes
	view         view
	pause        *backoff.ExponentialBackOff // between failed polls
	model        *model
	noModel      bool // the missing model was logged

	forecaster Forecaster

	accounting accountingState
}

var _ batch.System = (*System)(nil)

// view is the state of the cluster by the last polls.
type view struct {
	first bool      // there was a poll
	began time.Time // of the last answered poll
	taken time.Time
	full  bool   // the cluster refuses jobs until the next poll
	fails int    // failed requests since the last answered poll
	why   string // the last failure
	jobs  []Job
	nodes Nodes
	asked time.Time // when the nodes were
}

// New makes a System and begins to poll its cluster. It does not wait for an answer;
// until the first one, submitted jobs wait in the local queue. Close or Release ends
// the System.
func New(c Config) (*System, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuration of batch system: %w", err)
	}
	c.setDefaults()
	s := &System{
		cfg: c, cluster: c.Cluster, title: c.Cluster.Title(), log: c.Logger, base: time.Now(),
		pollNow: make(chan struct{}, 1), actNow: make(chan struct{}, 1), slots: make(chan struct{}, maxSubmissions),
		done: make(chan struct{}), firstPoll: make(chan struct{}),
		attempts: make(map[batch.Key]*attempt), pending: make(map[batch.Key]*attempt), changes: newChanges(),
		pause: newPause(c.Interval), forecaster: c.Forecasters(),
	}
	s.epoch = batch.Time(s.base.UnixMicro())
	s.life, s.die = context.WithCancelCause(context.Background())
	for i := range c.Adopt {
		if err := s.adopt(&c.Adopt[i]); err != nil {
			return nil, err
		}
	}
	s.work.Go(s.pollLoop)
	s.work.Go(s.controlLoop)
	return s, nil
}

// newPause returns the pauses between failed polls: twice the interval, then twice as
// long each time, up to longestInterval.
func newPause(interval time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: min(2*interval, longestInterval), Multiplier: 2, MaxInterval: longestInterval,
	}
}

// Await returns after the first poll of the cluster, or with the error of ctx.
func (s *System) Await(ctx context.Context) error {
	select {
	case <-s.firstPoll:
		return nil
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// adopt adds an attempt that may be in the cluster; a poll will show.
func (s *System) adopt(it *Adopted) error {
	if it.Job == nil || s.attempts[it.Key] != nil {
		return fmt.Errorf("adopt job %s: adopted twice, or without a shape", it.Key.Job)
	}
	s.lastPosition++
	a := &attempt{
		key: it.Key, position: s.lastPosition, arrival: s.lastPosition, job: it.Job, shape: it.Job.Shape,
		sent:    it.Job.Shape,
		desired: wantRun, stage: unconfirmed, phase: batch.PhaseQueued, since: s.base,
	}
	s.attempts[a.key] = a
	return nil
}

// Now returns the present instant on the System's clock: the Unix time in microseconds
// at which the System was made, plus the monotonic time since.
func (s *System) Now() batch.Time {
	return s.epoch.Add(batch.Duration(time.Since(s.base) / time.Microsecond))
}

// instant converts a wall time to the System's clock.
func instant(t time.Time) batch.Time { return batch.Time(t.UnixMicro()) }

func micros(d time.Duration) batch.Duration { return batch.Duration(max(d, 0) / time.Microsecond) }

// Caps describes the features of a cluster that Drover uses. Reserved jobs count in estimates but not
// in the cluster's queue, and all estimates are forecasts.
func (s *System) Caps() batch.Caps { return batch.Caps{Hold: true, Place: true} }

// Err returns nil: a System has no fatal error.
func (s *System) Err() error { return nil }

// Release ends the System and leaves its jobs in the cluster.
func (s *System) Release(context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.die(ErrClosed)
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
	default:
		close(s.done)
	}
	return nil
}

// Close cancels all jobs that this System has in the cluster, waits until they are
// gone, and ends the System.
func (s *System) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for _, key := range slices.SortedFunc(maps.Keys(s.attempts), compareKeys) {
		if a := s.attempts[key]; a.live() && !(a.stage == local && a.waits()) {
			a.desired = wantCancelled
			s.schedule(a)
		}
	}
	s.mu.Unlock()
	wake(s.actNow)
	err := s.awaitGone(ctx)
	return errors.Join(err, s.Release(context.WithoutCancel(ctx)))
}

// awaitGone waits until the cluster has no attempt of this System.
func (s *System) awaitGone(ctx context.Context) error {
	for {
		s.mu.Lock()
		left, more := 0, s.changes.more
		for _, a := range s.attempts {
			if a.stage == submitting || a.stage == unconfirmed || a.stage == submitted {
				left++
			}
		}
		s.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("close batch system: %d jobs not yet gone: %w", left, ctx.Err())
		}
	}
}

// wake wakes the goroutine that receives from a channel of capacity 1.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// schedule wakes the control loop if an action about the attempt is due.
func (s *System) schedule(a *attempt) {
	if a.due(time.Now()) != 0 {
		s.pending[a.key] = a
		wake(s.actNow)
	}
}

// finish ends an attempt.
func (s *System) finish(a *attempt, ended time.Time, out batch.Outcome) {
	s.leaveQueue(a)
	a.stage, a.phase, a.ended, a.outcome = over, batch.PhaseEnded, ended, out
	a.job = nil
	delete(s.pending, a.key)
	s.changes.touch(a)
	if old := s.changes.retire(a, s.cfg.Retain); old != nil {
		delete(s.attempts, old.key)
	}
	s.model.leave(a.key)
}

// finishCancelled ends an attempt that was cancelled on command.
func (s *System) finishCancelled(a *attempt) { s.finish(a, time.Now(), cancelledOutcome) }
