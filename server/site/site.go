package site

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Planner estimates when shapes would start. A batch.Policy that plans is a Planner; a forecaster
// stands in for the others.
type Planner interface {
	// Estimate is the method of batch.Policy.
	Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool
}

// ErrNoPlan means that the planner gave no estimate: the policy does not plan, and there is no
// forecaster.
var ErrNoPlan = errors.New("the batch system gives no estimates")

// Config describes a site.
type Config struct {
	Name     string // unique in the grid
	Platform batch.Platform
	Speed    catalogue.Speed // of every processor; 0 means catalogue.Reference
	// Catalogue holds the services that the site offers. If it is nil, a service is only a name and
	// each request must bring its menu.
	Catalogue *catalogue.Catalogue
	Tuning    Tuning
	MaxWidth  int32 // widest job, processors; 0 means all of the platform
	// MaxWalltime is the longest walltime of a job; 0 means catalogue.MaxTime.
	MaxWalltime batch.Duration
	// Attempts is the number of consecutive attempts that may fail to run before the job fails; 0
	// means DefaultAttempts.
	Attempts uint32
	Patience Patience
	// Edge rejects jobs that the batch system can never run. If it is nil, every job that fits the
	// platform can run.
	Edge Edge
	// PausedKeepMemory is true if a job that is paused without a checkpoint keeps its memory and
	// continues from the same point.
	PausedKeepMemory bool
}

// DefaultAttempts is the default of Config.Attempts.
const DefaultAttempts = 10

// Patience holds the timeouts of the move protocol. A zero field means the one of DefaultPatience.
type Patience struct {
	First   batch.Duration // before a message is repeated for the first time; doubles with each repetition
	Longest batch.Duration // longest pause between repetitions
	Move    batch.Duration // before the source aborts a move that the target does not answer
	Idle    batch.Duration // before an incoming job gives up its capacity
}

// DefaultPatience is the default of Config.Patience. Move is long because the target fetches the
// job's input before it answers.
var DefaultPatience = Patience{
	First: batch.Second, Longest: 30 * batch.Second, Move: 10 * batch.Minute, Idle: 30 * batch.Second,
}

// Validate reports all problems, each with its key.
func (c *Config) Validate() error {
	var errs []error
	if err := c.Platform.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("platform: %w", err))
	}
	if c.Speed != 0 {
		errs = append(errs, c.Speed.Validate())
	}
	if c.Tuning > Binary {
		errs = append(errs, fmt.Errorf("tuning: %d, accepted: exhaustive, binary", c.Tuning))
	}
	if w := c.Platform.Width(); c.MaxWidth < 0 || c.MaxWidth > w {
		errs = append(errs, fmt.Errorf("max_width: %d, accepted: 0 (no limit) to %d", c.MaxWidth, w))
	}
	if d := c.MaxWalltime; d != 0 && (d < batch.Second || d > catalogue.MaxTime) {
		errs = append(errs, fmt.Errorf("max_walltime: %v, accepted: 0 (no limit), or %s", d, walltimeRange))
	}
	for _, p := range []struct {
		key  string
		d    batch.Duration
		more batch.Duration
	}{
		{"patience.first", c.Patience.First, 0},
		{"patience.longest", c.Patience.Longest, c.Patience.First},
		{"patience.move", c.Patience.Move, 0},
		{"patience.idle", c.Patience.Idle, 0},
	} {
		if p.d < 0 || p.d > 0 && p.d < p.more {
			errs = append(errs, fmt.Errorf("%s: %v, accepted: 0 (the default) or at least %v", p.key, p.d, p.more))
		}
	}
	return errors.Join(errs...)
}

// Site is the state of one site.
type Site struct {
	config       Config
	width        int32 // widest job
	processors   int32 // of the platform
	perProcessor int64 // memory, bytes; 0 if unknown
	nodeMemory   int64 // of the largest node, bytes; 0 if unknown
	slowest      int32 // score of the slowest node; 0 if nodes have no scores

	tuner    tuner
	scratch  scratch
	book     book
	draining bool
	offer    offer
	voided   map[residence]uint32 // highest attempt that was undone
	samples  map[string]*sampleLog
	endings  []JobStatus // ended jobs with dependents to update

	reserved   reservations
	agreements Agreements

	fx       Effects
	dirty    []*Job // changed since the last Take
	recalled []*Job // loaded by Recall since the last Take
}

// New returns a site without jobs.
func New(c Config) (*Site, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	if c.Speed == 0 {
		c.Speed = catalogue.Reference
	}
	c.Attempts = cmp.Or(c.Attempts, DefaultAttempts)
	c.Patience = Patience{
		First:   cmp.Or(c.Patience.First, DefaultPatience.First),
		Longest: cmp.Or(c.Patience.Longest, DefaultPatience.Longest),
		Move:    cmp.Or(c.Patience.Move, DefaultPatience.Move), Idle: cmp.Or(c.Patience.Idle, DefaultPatience.Idle),
	}
	c.Patience.Longest = max(c.Patience.Longest, c.Patience.First)
	s := &Site{
		config: c, width: c.MaxWidth, processors: c.Platform.Width(), perProcessor: c.Platform.MemoryPerProcessor(),
		tuner: tuner{method: c.Tuning}, book: book{byID: make(map[batch.JobID]*Job)},
		offer: make(offer),
	}
	if s.width == 0 {
		s.width = s.processors
	}
	s.slowest = c.Platform.Nodes[0].Score
	for i := range c.Platform.Nodes {
		s.slowest = min(s.slowest, c.Platform.Nodes[i].Score)
	}
	if s.perProcessor > 0 {
		for i := range c.Platform.Nodes {
			s.nodeMemory = max(s.nodeMemory, c.Platform.Nodes[i].Memory)
		}
	}
	return s, nil
}

// Config returns the configuration with its defaults filled in.
func (s *Site) Config() Config { return s.config }

// maxWalltime returns the longest walltime that a job may have.
func (s *Site) maxWalltime() batch.Duration { return cmp.Or(s.config.MaxWalltime, catalogue.MaxTime) }

// Job returns a job, or a *problem.Problem if this site does not know it.
func (s *Site) Job(id batch.JobID) (Job, error) {
	j := s.book.byID[id]
	if j == nil || j.State == Absent {
		return Job{}, unknownJob(id)
	}
	return *j, nil
}

// charge returns the number of processors that a planner books for a job, 0 for a tombstone.
func (s *Site) charge(j *Job) int32 {
	if j.Needs == nil {
		return 0
	}
	return batch.Charge(j.Shape.Width, j.Needs.Memory, s.perProcessor)
}

// Load summarizes the queue of a site.
type Load struct {
	Running    int        // jobs that hold processors, including those being launched
	Waiting    int        // jobs that wait at this site, including held ones
	Bound      int        // waiting jobs that never leave the site, see Job.Bound
	Incoming   int        // jobs that have a slot here but can still stay at their source
	Ended      int64      // jobs that ended here
	Busy       int32      // held processors
	Processors int32      // of the site
	Backlog    batch.Area // of the waiting jobs, by walltime
}

// Load returns the summary, which is kept up to date with every change.
func (s *Site) Load() Load {
	l := s.book.load
	l.Processors = s.processors
	return l
}

// count adds a job to the summary (sign 1) or removes it (sign -1).
func (l *Load) count(j *Job, charge int32, sign int32) {
	switch {
	case j.busy:
		l.Running += int(sign)
		l.Busy += sign * charge
	case j.State == Waiting, j.State == Held, j.State == Moving, j.State == Yielding, j.State == Cancelling:
		l.Waiting += int(sign)
		if j.Bound() {
			l.Bound += int(sign)
		}
		area := batch.AreaOf(charge, j.Shape.Walltime)
		if sign > 0 {
			l.Backlog = l.Backlog.Add(area)
		} else {
			l.Backlog = l.Backlog.Sub(area)
		}
	case j.State == Incoming:
		l.Incoming += int(sign)
	}
}
