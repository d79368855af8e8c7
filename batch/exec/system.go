package exec

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/nodes"
)

// System is an embedded batch system. Its methods may be called from several
// goroutines; all but Now and Caps wait for the loop.
type System struct {
	policy     batch.Policy
	forecaster Forecaster // nil for none
	forecasts  func() Forecaster
	launcher   Launcher
	programs   Programs
	log        hclog.Logger
	platform   batch.Platform
	width      int32
	memory     int64    // per processor, for the charge
	names      []string // of the nodes
	hosts      []int32  // of each; nil: all are virtual nodes of one
	env        environment
	dir        string
	grace      batch.Duration
	retain     int
	caps       batch.Caps
	base       time.Time
	epoch      batch.Time

	calls chan *call
	notes chan note
	done  chan struct{} // closed when the loop has ended

	measured  chan []Measurement
	measuring chan struct{} // closed when nothing is measured any more
	unmeasure context.CancelFunc

	mu    sync.Mutex
	fault error // written by the loop

	// What follows belongs to the loop. After done is closed nobody writes it.
	now      batch.Time
	attempts map[batch.Key]*attempt
	handles  []*attempt     // by batch.Handle
	unused   []batch.Handle // to be given out again
	orders   uint64
	changes  changes
	alloc    *nodes.Allocator
	timers   deadlines
	timer    *time.Timer
	wake     batch.Time
	out      batch.Decisions
	active   int  // attempts with a goroutine
	retired  bool // the policy is asked nothing more
	closing  bool
	released bool // nothing is followed any more
	ready    readyEvents
	paused   []*attempt            // Stopped is to be applied in the next pass
	resumed  []*attempt            // Resumed is
	moving   []*attempt            // both are
	down     []bool                // by node
	pending  []*attempt            // submissions and reservations of this pass
	wanted   []wanted              // of this pass: what the plan has to be asked for first
	parked   map[batch.Key]*parked // by the attempts that have made place
	windows  map[batch.Key]*window
	booked   []*window  // the same, as they were set aside
	edge     batch.Time // when the next of them opens or closes
	applied  bool       // the policy was told something in this pass
}

var _ batch.System = (*System)(nil)

// call is a request to the loop: news of a node, commands, or a question that is
// answered after the pass.
type call struct {
	node  *nodeTurn
	cmds  []batch.Command
	errs  []error
	query func(now batch.Time)
	done  chan struct{}
}

// New makes a batch system in which what was adopted runs, and starts its loop.
// Close or Release end it.
func New(c Config) (*System, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuration of batch system: %w", err)
	}
	c.setDefaults()
	s := &System{
		policy: c.Policy, forecaster: c.forecaster(), forecasts: c.forecaster, launcher: c.Launcher, programs: c.Programs, log: c.Logger,
		platform: c.Platform, width: c.Platform.Width(), memory: c.Platform.MemoryPerProcessor(),
		names: nodeNames(c.Platform), env: serverEnvironment(os.LookupEnv),
		dir: c.Dir, grace: c.Grace, retain: c.Retain, hosts: c.Hosts, down: make([]bool, len(c.Platform.Nodes)),
		base:  time.Now(),
		calls: make(chan *call), notes: make(chan note), done: make(chan struct{}),
		measured: make(chan []Measurement), measuring: make(chan struct{}),
		attempts: make(map[batch.Key]*attempt), handles: make([]*attempt, 1),
		changes: newChanges(), alloc: nodes.New(c.Platform),
		parked: make(map[batch.Key]*parked), windows: make(map[batch.Key]*window), edge: batch.Never,
	}
	s.epoch = batch.Time(s.base.UnixMicro())
	s.timer = time.NewTimer(time.Hour)
	s.timer.Stop()
	now := s.tick()
	reservations := s.reserves(now)
	if err := s.restoreWindows(now, c.Windows, reservations); err != nil {
		return nil, fmt.Errorf("setting aside what is reserved: %w", err)
	}
	if err := s.adopt(now, c.Adopt, c.Fractional); err != nil {
		return nil, fmt.Errorf("adopting what runs: %w", err)
	}
	s.decide(now)
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("first scheduling pass: %w", err)
	}
	s.caps = batch.Caps{Promises: s.promises(), Preemption: true, Hold: true, Reserve: true, Place: true, Reservations: reservations}
	for i := range c.Adopt {
		s.active++
		go s.follow(s.attempts[c.Adopt[i].Key], c.Adopt[i].Process)
	}
	var ctx context.Context
	ctx, s.unmeasure = context.WithCancel(context.Background())
	if c.Measurements != nil {
		go s.measure(ctx, c.Measurements)
	} else {
		close(s.measuring)
	}
	go s.loop()
	return s, nil
}

// promises asks about a job that any platform can run, while nobody waits.
func (s *System) promises() bool {
	shape := batch.Shape{Width: 1, Walltime: batch.Second}
	asks := []batch.Ask{{Job: &batch.Job{Shape: shape}, Shapes: []batch.Shape{shape}}}
	out := make([]batch.Estimate, 1)
	return s.estimate(s.now, asks, out) && out[0].Kind == batch.Promised
}

// Now returns the present instant on the system's clock: Unix time in
// microseconds when the system was made, and monotonic from there on. Estimates
// are on this clock.
func (s *System) Now() batch.Time {
	return s.epoch.Add(batch.Duration(time.Since(s.base) / time.Microsecond))
}

// tick returns the instant of the next pass, later than the one before: two
// passes are never at one instant.
func (s *System) tick() batch.Time {
	s.now = max(s.Now(), s.now+1)
	return s.now
}

// Err returns the *DecisionError that faulted the system, or nil.
func (s *System) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

func (s *System) fail(err error) {
	s.mu.Lock()
	s.fault = err
	s.mu.Unlock()
	s.retired = true
	s.log.Error("policy fault: nothing more is started", "error", err)
}

// Caps says what this system can do: waiting jobs can be reserved, held and
// placed, running ones paused. It promises if its policy does, by itself or
// through the forecaster.
func (s *System) Caps() batch.Caps { return s.caps }

// ask runs query in the loop, after a pass. When the loop has ended nothing
// changes any more and query, which then must only read, runs here.
func (s *System) ask(ctx context.Context, query func(now batch.Time)) error {
	c := &call{query: query, done: make(chan struct{})}
	select {
	case s.calls <- c:
		<-c.done
	case <-s.done:
		query(s.now)
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
