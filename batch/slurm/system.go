package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
)

// ErrClosed is returned by a system that was closed or released.
var ErrClosed = errors.New("batch system closed")

// System is Slurm as a site's batch system. Its methods may be called from several
// goroutines. None but Close waits for Slurm.
type System struct {
	cfg   Config
	c     *Commands
	log   hclog.Logger
	base  time.Time
	epoch batch.Time

	life context.Context // of all that is done for itself
	die  context.CancelCauseFunc
	work sync.WaitGroup
	look chan struct{} // holds one: a look is wanted soon
	act  chan struct{} // holds one: there is something to ask Slurm for
	done chan struct{} // closed at the end
	slot chan struct{} // holds as many as there are submissions under way
	seen chan struct{} // closed with the first look

	mu       sync.Mutex
	closed   bool
	attempts map[batch.Key]*attempt
	outside  []*attempt // those that wait here, ascending order
	due      map[batch.Key]*attempt
	sending  int
	within   int // own jobs that wait in Slurm, as of the last look and since
	orders   uint64
	changes  changes
	view     view
	model    *model
	blind    bool // there is none, which was said

	forecaster Forecaster

	books books
}

var _ batch.System = (*System)(nil)

// view is what the last looks at Slurm have shown.
type view struct {
	first bool      // there was one
	began time.Time // the last one that was answered
	taken time.Time
	full  bool   // Slurm takes no more for now
	fails int    // looks since without an answer
	why   string // of the last failure
	rows  []Row  // of jobs that matter for this partition
	nodes []NodeRow
	asked time.Time // for the nodes
	parts map[string]bool
}

// New makes a system and begins to look at Slurm. It does not wait for an answer:
// what is submitted meanwhile waits. Close or Release end it.
func New(c Config) (*System, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuration of batch system: %w", err)
	}
	c.setDefaults()
	s := &System{
		cfg: c, log: c.Logger, base: time.Now(),
		look: make(chan struct{}, 1), act: make(chan struct{}, 1), slot: make(chan struct{}, senders), done: make(chan struct{}), seen: make(chan struct{}),
		attempts: make(map[batch.Key]*attempt), due: make(map[batch.Key]*attempt), changes: newChanges(),
	}
	s.c, s.forecaster = &s.cfg.Commands, c.Forecasters()
	s.epoch = batch.Time(s.base.UnixMicro())
	s.life, s.die = context.WithCancelCause(context.Background())
	for i := range c.Adopt {
		if err := s.adopt(&c.Adopt[i]); err != nil {
			return nil, err
		}
	}
	s.work.Go(s.watchSlurm)
	s.work.Go(s.steer)
	return s, nil
}

// Await returns when there was a first look at Slurm, or the error of ctx when that
// ends before.
func (s *System) Await(ctx context.Context) error {
	select {
	case <-s.seen:
		return nil
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// adopt enters an attempt that may be in Slurm: a look will tell.
func (s *System) adopt(it *Adopted) error {
	if it.Job == nil || s.attempts[it.Key] != nil {
		return fmt.Errorf("adopting job %s: twice, or without its shape", it.Key.Job)
	}
	s.orders++
	a := &attempt{
		key: it.Key, order: s.orders, first: s.orders, job: it.Job, shape: it.Job.Shape, sent: it.Job.Shape,
		want: toRun, stage: unsure, phase: batch.PhaseQueued, since: s.base,
	}
	s.attempts[a.key] = a
	return nil
}

// Now returns the present instant on the system's clock: Unix time in
// microseconds when the system was made, and monotonic from there on.
func (s *System) Now() batch.Time {
	return s.epoch.Add(batch.Duration(time.Since(s.base) / time.Microsecond))
}

// at converts a wall time to the system's clock.
func at(t time.Time) batch.Time { return batch.Time(t.UnixMicro()) }

// Caps says what Slurm can do for Drover. A reserved job has its place in
// estimates, but none in Slurm's queue; what it promises are forecasts.
func (s *System) Caps() batch.Caps { return batch.Caps{Hold: true, Place: true} }

// Err returns nil: Slurm does not fault.
func (s *System) Err() error { return nil }

// Release ends the system and leaves to Slurm what it has.
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

// Close takes everything out of Slurm that this system has there, waits until it
// is gone, and ends the system.
func (s *System) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for _, key := range slices.SortedFunc(maps.Keys(s.attempts), compareKeys) {
		if a := s.attempts[key]; a.live() && !(a.stage == outside && a.waits()) {
			a.want = toCancel
			s.consider(a)
		}
	}
	s.mu.Unlock()
	s.poke(s.act)
	err := s.await(ctx)
	return errors.Join(err, s.Release(context.WithoutCancel(ctx)))
}

// await waits until nothing of this system is in Slurm any more.
func (s *System) await(ctx context.Context) error {
	for {
		s.mu.Lock()
		left, more := 0, s.changes.more
		for _, a := range s.attempts {
			if a.stage == sending || a.stage == unsure || a.stage == inside {
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

// poke wakes a goroutine that waits for a channel of one.
func (s *System) poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// consider notes that Slurm may have to be asked for something about an attempt.
func (s *System) consider(a *attempt) {
	if a.due(time.Now()) != nothing {
		s.due[a.key] = a
		s.poke(s.act)
	}
}

// finish puts an attempt into its last phase.
func (s *System) finish(a *attempt, ended time.Time, out batch.Outcome) {
	s.leaveQueue(a)
	a.stage, a.phase, a.ended, a.outcome = over, batch.PhaseEnded, ended, out
	a.job = nil
	delete(s.due, a.key)
	s.changes.touch(a)
	if old := s.changes.retire(a, s.cfg.Retain); old != nil {
		delete(s.attempts, old.key)
	}
	s.model.leave(a.key)
}
