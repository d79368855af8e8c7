package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
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

// The defaults of Config.
const (
	DefaultGrace  = 10 * batch.Second
	DefaultRetain = 1 << 16
)

// Config is what New makes a System from.
type Config struct {
	// Policy decides. The system owns it from New on.
	Policy batch.Policy
	// Platform is the machine the policy was made for: virtual nodes of this host.
	Platform batch.Platform
	// Dir is where the relative working directories of programs lie, made when
	// it is first needed; "" is the directory the server runs in.
	Dir string
	// Grace is how long a group may go on after SIGTERM; 0 means DefaultGrace.
	Grace batch.Duration
	// Retain is how many ended attempts are remembered for Find, Watch and
	// repeated commands; 0 means DefaultRetain. Beyond it the oldest are forgotten.
	Retain int
	// Logger may be nil.
	Logger hclog.Logger
	// Forecaster makes what answers Estimate for a policy that does not plan: one for
	// the system, and one for each draft; nil for none.
	Forecaster func() Forecaster
	// Programs says what attempts run.
	Programs Programs
	// Launcher starts programs; nil means real processes.
	Launcher Launcher
	// Hosts says which nodes are virtual nodes of one host: those with the same number,
	// by their index in the platform. Nil: all are. What runs can be moved from one to
	// another of them as it is.
	Hosts []int32
	// Fractional says that the policy gives away parts of processors. What is adopted
	// then may have had less of its nodes, by the end, than Adopted says: where that is
	// more than there is, all have the same part of it until the policy says otherwise.
	Fractional bool
	// Measurements is where measured needs come from; nil for none.
	Measurements Measurements
	// Windows are the advance reservations that are not over yet.
	Windows []Window
	// Adopt is what runs already, in the order in which it was submitted.
	Adopt []Adopted
}

// Forecaster estimates starts from the state of a policy that does not plan
// itself. It is called by one goroutine, always with the same p, and changes
// nothing that a later decision of p could see. It reports false when it cannot say.
type Forecaster interface {
	Estimate(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate) bool
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if c.Policy == nil {
		errs = append(errs, errors.New("policy: missing"))
	}
	if c.Programs == nil {
		errs = append(errs, errors.New("programs: missing"))
	}
	if err := c.Platform.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("platform: %w", err))
	}
	if c.Hosts != nil && len(c.Hosts) != len(c.Platform.Nodes) {
		errs = append(errs, fmt.Errorf("hosts: %d, accepted: one for each of %d nodes", len(c.Hosts), len(c.Platform.Nodes)))
	}
	if c.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace: %v, accepted: 0 (%v) or more", c.Grace, DefaultGrace))
	}
	if c.Retain < 0 {
		errs = append(errs, fmt.Errorf("retain: %d, accepted: 0 (%d) or more", c.Retain, DefaultRetain))
	}
	return errors.Join(errs...)
}

// forecaster returns one more forecaster, nil if there are none.
func (c *Config) forecaster() Forecaster {
	if c.Forecaster == nil {
		return nil
	}
	return c.Forecaster()
}

func (c *Config) setDefaults() {
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.Retain == 0 {
		c.Retain = DefaultRetain
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Launcher == nil {
		c.Launcher = processes{log: c.Logger}
	}
}

// The reasons of a *batch.CommandError.
const (
	ReasonUnknownJob  = "unknown-job"    // an order about an attempt never seen, or long forgotten
	ReasonTooWide     = "too-wide"       // more processors than the platform has
	ReasonBadJob      = "bad-job"        // a field of the job is out of its range
	ReasonBadCommand  = "bad-command"    // no such kind of command
	ReasonUnsupported = "unsupported"    // advance reservations, where the policy has none
	ReasonNoRoom      = "no-room"        // the plan cannot hold a window, or an agreed job
	ReasonNoWindow    = "no-reservation" // of a job: the reservation it is for is not there, or over
	ReasonNotWaiting  = "not-waiting"    // it is reserved, has started or ended, and the order is for one that waits
	ReasonClosed      = "closed"         // the system is closed or closing
	ReasonFaulted     = "policy-fault"   // the system has faulted, see System.Err
)

// ErrClosed is returned by a system that was closed.
var ErrClosed = errors.New("batch system closed")

// What is wrong with a decision; causes of a *DecisionError.
var (
	ErrUnsupported = errors.New("not supported by this executor")
	ErrNoCapacity  = errors.New("processors are not free")
	ErrWrongState  = errors.New("does not fit the job's state")
)

// DecisionError is a decision of the policy that could not be carried out. It
// faults the system.
type DecisionError struct {
	Decision batch.DecisionKind
	Handle   batch.Handle
	Key      batch.Key // zero when the handle names no job
	Err      error     // ErrUnsupported, ErrNoCapacity or ErrWrongState
}

// Error names the decision, the job and what is wrong.
func (e *DecisionError) Error() string {
	return fmt.Sprintf("policy decided to %v job %s (handle %d): %v", e.Decision, e.Key.Job, e.Handle, e.Err)
}

// Unwrap returns the cause.
func (e *DecisionError) Unwrap() error { return e.Err }

// CursorError is a cursor that Watch cannot go on from: of another life of the
// system, or so old that ends after it have been forgotten. The watcher asks
// Find about the attempts it knows and watches from the zero cursor again.
type CursorError struct {
	After  batch.Cursor
	Oldest batch.Cursor // accepted, besides 0: Oldest..Newest
	Newest batch.Cursor
}

// Error names the cursor and the accepted range.
func (e *CursorError) Error() string {
	return fmt.Sprintf("cursor: %d, accepted: 0 or %d..%d", e.After, e.Oldest, e.Newest)
}

func refuse(key batch.Key, reason string, format string, args ...any) *batch.CommandError {
	return &batch.CommandError{Key: key, Reason: reason, Err: fmt.Errorf(format, args...)}
}

// Close starts nothing more, ends what runs (SIGTERM, grace, SIGKILL) and
// returns when it is gone. Ended attempts can still be found and watched; those
// that were running have failed with the reason "batch system closed", waiting
// ones stay as they were. When ctx ends first what is left is killed at once and
// Close returns without waiting for it.
func (s *System) Close(ctx context.Context) error {
	if err := s.ask(ctx, s.close); err != nil {
		return fmt.Errorf("close batch system: %w", err)
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	left := 0
	if err := s.ask(context.WithoutCancel(ctx), func(batch.Time) { left = s.killAll() }); err != nil {
		return fmt.Errorf("close batch system: %w", err)
	}
	if left == 0 {
		return nil
	}
	return fmt.Errorf("close batch system: %d jobs not yet gone: %w", left, ctx.Err())
}

// close is the order to end everything.
func (s *System) close(now batch.Time) {
	if s.closing {
		return
	}
	s.closing, s.retired = true, true
	for _, a := range s.handles {
		if a != nil && !a.waits() {
			s.log.Info("ending job, the batch system closes", "job", a.key.Job)
			s.end(now, a, batch.EndFailed, ErrClosed.Error())
		}
	}
}

// killAll kills what is still there, at once, and returns how much that is.
func (s *System) killAll() int {
	if s.active == 0 || s.released {
		return 0
	}
	s.grace = 0 // for what is only being launched
	for _, a := range s.handles {
		if a != nil && a.run != nil && a.run.proc != nil {
			s.signal(a, syscall.SIGKILL)
		}
	}
	return s.active
}
