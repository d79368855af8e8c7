package exec

import (
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
)

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
