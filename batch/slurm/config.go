package slurm

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The defaults of Config.
const (
	DefaultMost     = 100
	DefaultInterval = 2 * time.Second
	DefaultStale    = 5 * time.Minute
	DefaultRetain   = 1 << 16
	DefaultUnseen   = 1000
)

const (
	longestInterval = time.Minute // between looks when Slurm does not answer
	senders         = 8           // submissions at once
	preparing       = 16          // those that are being made ready besides
	nodesEvery      = 30 * time.Second
	nodesSoon       = 5 * time.Second // while none can be used, as when a controller starts
)

// Config is what New makes a System from.
type Config struct {
	// Site is the name by which this system knows its own jobs among all of the
	// cluster's. Two servers on one cluster must not share it.
	Site      string
	Commands  Commands
	Partition string // "": the default one
	Account   string
	QOS       string
	Extra     []string // options of every submission

	// Most is how many of its jobs may wait in Slurm's queue at once; the others wait
	// here. 0 means DefaultMost.
	Most int
	// Interval is the time between two looks at the queue, one command each; 0 means
	// DefaultInterval. It grows when Slurm is slow or does not answer.
	Interval time.Duration
	// Stale is how old the last look may be for estimates; 0 means DefaultStale.
	Stale time.Duration
	// Unseen is how many jobs may wait here for Guess to say anything.
	Unseen int
	// Parting is how long an attempt is waited for that has begun, that Slurm has given
	// up, and that was told to stop; 0 means DefaultParting.
	Parting time.Duration
	// Retain is how many ended attempts are remembered; 0 means DefaultRetain.
	Retain int

	// Programs says what attempts run.
	Programs Programs
	// Witness is what attempts write down themselves; nil: nothing, and Slurm's word
	// is all there is.
	Witness Witness
	// Taken is the exit code of a script that has found its attempt claimed, and has run
	// nothing; 0: there is none.
	Taken int
	// Adopt is what may be in Slurm from an earlier life, and has to be followed.
	Adopt []Adopted

	// Policy makes the model that estimates are made with; Forecasters makes what runs
	// it, one for each goroutine that asks.
	Policy      batch.Factory
	Settings    batch.Settings
	Forecasters func() Forecaster
	Logger      hclog.Logger // may be nil
}

// Programs says what attempts run. It is asked when an attempt is about to be
// handed to Slurm, by a goroutine of its own.
type Programs interface {
	// Script returns the batch script of an attempt with a shape. An error ends the
	// attempt, as never run if it wraps ErrNeverRan; its text goes to the job's owner.
	Script(key batch.Key, shape batch.Shape) (Script, error)
}

// Script is what Slurm is to run for an attempt.
type Script struct {
	Text   []byte
	Dir    string // working directory, which is there; "": that of the server
	Stdout string // files; "": discarded
	Stderr string
	Owner  string   // who asked for it, for the comment
	Memory int64    // bytes for each processor; 0: as the partition has it
	Extra  []string // options of its own; those of the site win
}

// ErrNeverRan is wrapped by the error of a Script that is none for a reason that
// is not the job's own: another attempt may be made.
var ErrNeverRan = errors.New("it never ran")

// Witness is what attempts say of themselves, in files that the nodes of the
// cluster share with the server. Slurm can lose what it has accepted, or run it
// twice: an attempt that has to claim a file before it runs does so once.
type Witness interface {
	// Look says what an attempt has written down.
	Look(key batch.Key) (Testimony, error)
	// Bar sees to it that an attempt that has not begun never will, and says what
	// there is then: Barred, or what the attempt has written.
	Bar(key batch.Key) (Testimony, error)
	// Stop tells an attempt that may run where Slurm does not see it to stop, and to
	// write down its end. It may be told often.
	Stop(key batch.Key) error
	// Again returns the starts that have run nothing, because their attempts had been
	// started before, and those that have stopped because they were told to. Forget is
	// called when a start was reported.
	Again() ([]Start, error)
	Forget(Start) error
}

// Start is one start of an attempt, by Slurm.
type Start struct {
	Key batch.Key
	By  string // where it was, in words: host, process, Slurm's number
	// Stopped says that it is the attempt's own, which has run and was told to stop.
	Stopped bool
}

// Testimony is what an attempt has written down.
type Testimony struct {
	Barred  bool          // it has not run and never will
	Claimed bool          // it has begun to begin: whether it runs is not written yet
	Began   time.Time     // zero: it has not
	Ended   time.Time     // zero: it has not, or could not say so
	Outcome batch.Outcome // when it has ended
}

// Adopted is an attempt of an earlier life that may be in Slurm.
type Adopted struct {
	Key batch.Key
	Job *batch.Job // with the shape it was submitted with
}

// Forecaster is that of package forecast, as far as it is needed here.
type Forecaster interface {
	Estimate(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate) bool
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if c.Site == "" || strings.ContainsAny(c.Site, ": \t\n") {
		errs = append(errs, fmt.Errorf("site: %q, accepted: a word without colons", c.Site))
	}
	if c.Programs == nil {
		errs = append(errs, errors.New("programs: missing"))
	}
	if c.Policy == nil {
		errs = append(errs, errors.New("policy: missing"))
	}
	if c.Forecasters == nil {
		errs = append(errs, errors.New("forecasters: missing"))
	}
	for _, n := range []struct {
		key   string
		value int64
	}{{"most", int64(c.Most)}, {"interval", int64(c.Interval)}, {"stale", int64(c.Stale)}, {"parting", int64(c.Parting)}, {"retain", int64(c.Retain)}, {"unseen", int64(c.Unseen)}} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s: %d, accepted: 0 (the default) or more", n.key, n.value))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) setDefaults() {
	if c.Most == 0 {
		c.Most = DefaultMost
	}
	if c.Interval == 0 {
		c.Interval = DefaultInterval
	}
	if c.Stale == 0 {
		c.Stale = DefaultStale
	}
	if c.Parting == 0 {
		c.Parting = DefaultParting
	}
	if c.Retain == 0 {
		c.Retain = DefaultRetain
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
}
