package external

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
	DefaultMaxQueued   = 100
	DefaultInterval    = 2 * time.Second
	DefaultStale       = 5 * time.Minute
	DefaultRetain      = 1 << 16
	DefaultMaxUnseen   = 1000
	DefaultTimeout     = 10 * time.Second // of each request to a cluster
	DefaultStopTimeout = 90 * time.Second // NFS can delay the request by a minute, and programs need time to end
)

const (
	longestInterval   = time.Minute // between polls while the cluster does not answer
	maxSubmissions    = 8           // under way at once
	maxPrepared       = 16          // further attempts that get their scripts meanwhile
	nodesInterval     = 30 * time.Second
	nodesIntervalDown = 5 * time.Second // while no node is usable, as when a controller starts
	retryAfter        = 15 * time.Second
	maxActions        = 200             // jobs that one Control call holds, releases or cancels
	unconfirmedAfter  = 2 * time.Second // until an unanswered submission must show up
	// strayAfter is when unknown jobs of this site count as left over: a restarting server
	// adopts and resubmits its jobs first.
	strayAfter = time.Minute
	// enoughPolls is how many polls must miss an attempt before the absence of a record
	// counts: a shared file system can show files late.
	enoughPolls = 3
)

// Config is what New makes a System from.
type Config struct {
	// Site marks this system's jobs among all jobs of the cluster. Two servers on one
	// cluster must not share it.
	Site    string
	Cluster Cluster

	// MaxQueued is how many of its jobs can wait in the cluster's queue at once; the
	// others wait in the local queue. 0 means DefaultMaxQueued.
	MaxQueued int
	// Interval is the time between two polls; 0 means DefaultInterval. It grows when the
	// cluster is slow or does not answer.
	Interval time.Duration
	// Stale is how old the last poll can be for estimates; 0 means DefaultStale.
	Stale time.Duration
	// MaxUnseen is how many jobs can wait in the local queue before RoughEstimate
	// refuses; 0: none.
	MaxUnseen int
	// StopTimeout is how long a stopped attempt that the cluster lost sight of has to
	// record its end; 0 means DefaultStopTimeout.
	StopTimeout time.Duration
	// Retain is how many ended attempts are remembered; 0 means DefaultRetain.
	Retain int

	Programs Programs
	// Files are the records of attempts; nil: there are none, and the cluster's word
	// decides alone.
	Files AttemptFiles
	// ClaimedExit is the exit code of a script that found its attempt claimed and ran
	// nothing; 0: scripts do not report that.
	ClaimedExit int
	// Adopt are attempts of an earlier server process that may be in the cluster.
	Adopt []Adopted

	// Policy makes the model's policy. Forecasters makes what runs the model, one for
	// each goroutine that asks.
	Policy      batch.Factory
	Settings    batch.Settings
	Forecasters func() Forecaster
	Logger      hclog.Logger // may be nil
}

// Programs supplies what attempts run. A goroutine per submission calls it.
type Programs interface {
	// Script returns the batch script of an attempt with a shape. An error ends the
	// attempt: as never run if the error wraps ErrNeverRan, else as failed to start. The
	// job's owner sees the error's text.
	Script(key batch.Key, shape batch.Shape) (Script, error)
}

// Script is what the cluster runs for an attempt.
type Script struct {
	Text   []byte
	Dir    string // working directory, which exists; "": that of the server
	Stdout string // file; "": discarded
	Stderr string
	Owner  string   // who asked for it, for the job's comment
	Memory int64    // bytes per processor; 0: the cluster's default
	Extra  []string // submit options of this job; those of the site override them
}

// ErrNeverRan is wrapped by an error of Programs.Script that is not the job's fault:
// the job can get another attempt.
var ErrNeverRan = errors.New("it never ran")

// AttemptFiles reads what attempts record about themselves, in files that the nodes
// share with the server, and claims attempts for the server. A cluster can lose a job
// that it accepted, or run it twice; the claim makes an attempt run at most once.
type AttemptFiles interface {
	// Read returns what an attempt has recorded.
	Read(key batch.Key) (Progress, error)
	// Claim tries to claim an attempt for the server, so that it can never run. It
	// returns what the file says then: Barred, or what the attempt recorded.
	Claim(key batch.Key) (Progress, error)
	// Stop asks an attempt that may run outside the cluster's view to stop and to record
	// its end. Repeated calls change nothing.
	Stop(key batch.Key) error
	// Notices returns what script starts left for the server: second starts that ran
	// nothing, and attempts that stopped on request. Forget removes a notice.
	Notices() ([]Notice, error)
	Forget(n Notice) error
}

// Progress is what an attempt has recorded about itself.
type Progress struct {
	Barred  bool          // the server has the claim: the attempt never runs
	Claimed bool          // the script has the claim, and may not have started the program yet
	Began   time.Time     // zero: the program has not started
	Ended   time.Time     // zero: it has not ended, or could not record it
	Outcome batch.Outcome // if it has ended
}

// Notice is the message of one script start to the server.
type Notice struct {
	Key batch.Key
	By  string // which start: host, process and job ID, for people
	// Stopped: the attempt's own start stopped on request. Else it was a second start.
	Stopped bool
}

// Adopted is an attempt of an earlier server process that may be in the cluster.
type Adopted struct {
	Key batch.Key
	Job *batch.Job // with the shape of its submission
}

// Forecaster runs a policy forward; package forecast has one.
type Forecaster interface {
	Estimate(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate) bool
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if c.Site == "" || strings.ContainsAny(c.Site, ": \t\n") {
		errs = append(errs, fmt.Errorf("site: %q, accepted: a word without colons", c.Site))
	}
	if c.Cluster == nil {
		errs = append(errs, errors.New("cluster: missing"))
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
	}{
		{"max queued", int64(c.MaxQueued)},
		{"interval", int64(c.Interval)},
		{"stale", int64(c.Stale)},
		{"stop timeout", int64(c.StopTimeout)},
		{"retain", int64(c.Retain)},
		{"max unseen", int64(c.MaxUnseen)},
	} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s: %d, accepted: 0 (the default) or more", n.key, n.value))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) setDefaults() {
	if c.MaxQueued == 0 {
		c.MaxQueued = DefaultMaxQueued
	}
	if c.Interval == 0 {
		c.Interval = DefaultInterval
	}
	if c.Stale == 0 {
		c.Stale = DefaultStale
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = DefaultStopTimeout
	}
	if c.Retain == 0 {
		c.Retain = DefaultRetain
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
}
