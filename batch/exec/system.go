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

// System is an embedded batch system. Its methods may be called from several goroutines; all
// but Now and Caps wait for the loop.
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
	measuring chan struct{} // closed when measurement has ended
	unmeasure context.CancelFunc

	mu    sync.Mutex
	fault error // set by the loop

	// The loop owns the following fields. After done is closed they do not change.
	now      batch.Time
	attempts map[batch.Key]*attempt
	handles  []*attempt     // by batch.Handle
	unused   []batch.Handle // free for reuse
	orders   uint64
	changes  changes
	alloc    *nodes.Allocator
	timers   deadlines
	timer    *time.Timer
	wake     batch.Time
	out      batch.Decisions
	active   int  // attempts with a goroutine
	retired  bool // the policy is not asked any more
	closing  bool
	released bool // no attempt is followed any more
	ready    readyEvents
	paused   []*attempt            // Stopped is to be applied in the next pass
	resumed  []*attempt            // Resumed is to be applied
	moving   []*attempt            // both are to be applied
	down     []bool                // by node
	pending  []*attempt            // submissions and reservations of this pass
	wanted   []wanted              // commands of this pass that need an answer from the plan
	parked   map[batch.Key]*parked // by the attempts that stopped at a checkpoint
	windows  map[batch.Key]*window
	booked   []*window  // the same, in the order of their creation
	edge     batch.Time // when the next of them opens or closes
	applied  bool       // the policy received an event in this pass
}

var _ batch.System = (*System)(nil)

// call is a request to the loop: a node event, commands, or a query that is answered after
// the pass.
type call struct {
	node  *nodeTurn
	cmds  []batch.Command
	errs  []error
	query func(now batch.Time)
	done  chan struct{}
}

// New creates a batch system with the adopted attempts running, and starts its loop. Close or
// Release ends it.
func New(c Config) (*System, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuration of batch system: %w", err)
	}
	c.setDefaults()
	s := &System{
		policy: c.Policy, forecaster: c.forecaster(), forecasts: c.forecaster, launcher: c.Launcher,
		programs: c.Programs, log: c.Logger,
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
		return nil, fmt.Errorf("restore reservations: %w", err)
	}
	if err := s.adopt(now, c.Adopt, c.Fractional); err != nil {
		return nil, fmt.Errorf("adopt running jobs: %w", err)
	}
	s.decide(now)
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("first scheduling pass: %w", err)
	}
	s.caps = batch.Caps{
		Promises: s.promises(), Preemption: true, Hold: true, Reserve: true, Place: true, Reservations: reservations,
	}
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

// promises asks the empty policy about a job that any platform can run.
func (s *System) promises() bool {
	shape := batch.Shape{Width: 1, Walltime: batch.Second}
	asks := []batch.Ask{{Job: &batch.Job{Shape: shape}, Shapes: []batch.Shape{shape}}}
	out := make([]batch.Estimate, 1)
	return s.estimate(s.now, asks, out) && out[0].Kind == batch.Promised
}

// Now returns the current instant on the system's clock: Unix time in microseconds when the
// system was created, monotonic from there on. Estimates are on this clock.
func (s *System) Now() batch.Time {
	return s.epoch.Add(batch.Duration(time.Since(s.base) / time.Microsecond))
}

// tick returns the instant of the next pass, which is later than the previous one: no two
// passes share an instant.
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
	s.log.Error("policy fault, no more jobs are started", "error", err)
}

// Caps returns the capabilities of this system: waiting jobs can be reserved, held and
// placed, running ones paused. It promises if its policy does, by itself or through the
// forecaster.
func (s *System) Caps() batch.Caps { return s.caps }

// ask runs query in the loop, after a pass. After the end of the loop the state is final and
// query runs in the caller; it must then only read.
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

// Config configures New.
type Config struct {
	// Policy decides. The system owns it after New.
	Policy batch.Policy
	// Platform is the machine that the policy was made for: virtual nodes of this host.
	Platform batch.Platform
	// Dir is the base of relative working directories, created when it is first needed; "" is
	// the working directory of the server.
	Dir string
	// Grace is the time between SIGTERM and SIGKILL; 0 means DefaultGrace.
	Grace batch.Duration
	// Retain is the number of ended attempts that Find, Watch and repeated commands still
	// know; 0 means DefaultRetain. The oldest are forgotten first.
	Retain int
	// Logger may be nil.
	Logger hclog.Logger
	// Forecaster makes what answers Estimate for a policy that does not plan: one for the
	// system, and one for each draft; nil for none.
	Forecaster func() Forecaster
	// Programs provides the programs of attempts.
	Programs Programs
	// Launcher launches programs; nil means real processes.
	Launcher Launcher
	// Hosts assigns each node, by its index in the platform, the number of its host. A running
	// job can be moved among the nodes of one host. Nil: all nodes are on one host.
	Hosts []int32
	// Fractional says that the policy allocates parts of processors. An adopted attempt may
	// then have had less of its nodes at the end than Adopted says: where the sum exceeds the
	// capacity, all get the same fraction until the policy decides again.
	Fractional bool
	// Measurements is the source of measured needs; nil for none.
	Measurements Measurements
	// Windows are the advance reservations that have not ended.
	Windows []Window
	// Adopt are the running attempts, in submission order.
	Adopt []Adopted
}

// Forecaster estimates starts from the state of a policy that does not plan itself. One
// goroutine calls it, always with the same p. It must not change anything that affects a
// later decision of p. It returns false when it has no estimate.
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
		errs = append(errs, fmt.Errorf("hosts: %d, accepted: one for each of %d nodes", len(c.Hosts),
			len(c.Platform.Nodes)))
	}
	if c.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace: %v, accepted: 0 (%v) or more", c.Grace, DefaultGrace))
	}
	if c.Retain < 0 {
		errs = append(errs, fmt.Errorf("retain: %d, accepted: 0 (%d) or more", c.Retain, DefaultRetain))
	}
	return errors.Join(errs...)
}

// forecaster returns a new forecaster, nil if there are none.
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
	ReasonUnknownJob  = "unknown-job"    // the attempt was never seen, or was forgotten
	ReasonTooWide     = "too-wide"       // more processors than the platform has
	ReasonBadJob      = "bad-job"        // a field of the job is out of its range
	ReasonBadCommand  = "bad-command"    // no such kind of command
	ReasonUnsupported = "unsupported"    // advance reservations, if the policy has none
	ReasonNoRoom      = "no-room"        // the plan cannot hold a window, or an agreed job
	ReasonNoWindow    = "no-reservation" // the job's reservation does not exist, or has ended
	ReasonNotWaiting  = "not-waiting"    // it is reserved, has started or ended, and the command needs a waiting one
	ReasonClosed      = "closed"         // the system is closed or closing
	ReasonFaulted     = "policy-fault"   // the system has faulted, see System.Err
)

// ErrClosed is returned by a system that was closed.
var ErrClosed = errors.New("batch system closed")

// The causes of a *DecisionError.
var (
	ErrUnsupported = errors.New("not supported by this executor")
	ErrNoCapacity  = errors.New("processors are not free")
	ErrWrongState  = errors.New("does not fit the job's state")
)

// DecisionError is a decision of the policy that could not be carried out. It faults the
// system.
type DecisionError struct {
	Decision batch.DecisionKind
	Handle   batch.Handle
	Key      batch.Key // zero when the handle names no job
	Err      error     // ErrUnsupported, ErrNoCapacity or ErrWrongState
}

// Error names the decision, the job and the cause.
func (e *DecisionError) Error() string {
	return fmt.Sprintf("policy decided to %v job %s (handle %d): %v", e.Decision, e.Key.Job, e.Handle, e.Err)
}

// Unwrap returns the cause.
func (e *DecisionError) Unwrap() error { return e.Err }

// CursorError is a cursor that Watch cannot continue from: it belongs to an earlier system,
// or later ends have been forgotten. The watcher then calls Find for the attempts it knows
// and watches from the zero cursor again.
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

// Close starts nothing more, ends running programs (SIGTERM, grace, SIGKILL) and returns when
// they are gone. Ended attempts can still be found and watched; running ones fail with the
// reason "batch system closed", waiting ones do not change. If ctx ends first, the remaining
// programs are killed at once and Close returns without waiting.
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
	return fmt.Errorf("close batch system: %d jobs still running: %w", left, ctx.Err())
}

// close is the request to end everything.
func (s *System) close(now batch.Time) {
	if s.closing {
		return
	}
	s.closing, s.retired = true, true
	for _, a := range s.handles {
		if a != nil && !a.waits() {
			s.log.Info("ending job because the batch system closes", "job", a.key.Job)
			s.end(now, a, batch.EndFailed, ErrClosed.Error())
		}
	}
}

// killAll kills all remaining programs at once, and returns their number.
func (s *System) killAll() int {
	if s.active == 0 || s.released {
		return 0
	}
	s.grace = 0 // for launches under way
	for _, a := range s.handles {
		if a != nil && a.run != nil && a.run.proc != nil {
			s.signal(a, syscall.SIGKILL)
		}
	}
	return s.active
}
