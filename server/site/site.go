package site

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Planner answers when shapes would start. Every batch.Policy that plans is
// one; for the others a forecaster is.
type Planner interface {
	// Estimate is batch.Policy's.
	Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool
}

// ErrNoPlan says that a planner gave no answer: it does not plan, and nobody
// forecasts for it.
var ErrNoPlan = errors.New("the batch system gives no estimates")

// Config is what a site is.
type Config struct {
	Name     string // unique in the grid
	Platform batch.Platform
	Speed    catalogue.Speed // of every processor; 0 means catalogue.Reference
	// Catalogue is what the site offers. With nil, a request's service is only
	// a name, and the request has to bring its menu.
	Catalogue *catalogue.Catalogue
	Tuning    Tuning
	MaxWidth  int32 // widest job, processors; 0 means all of the platform
	// MaxWalltime is that of the longest job; 0 means catalogue.MaxTime.
	MaxWalltime batch.Duration
	// Attempts is how often a job is launched when nothing has come of it; 0 means
	// DefaultAttempts.
	Attempts uint32
	Patience Patience
	// Edge says what the batch system could ever run; nil: what fits the platform.
	Edge Edge
	// Stays says that what is paused without a checkpoint keeps its memory, and goes on
	// where it was.
	Stays bool
}

// DefaultAttempts is the default of Config.Attempts.
const DefaultAttempts = 10

// Patience is how long a site waits for others. Zero fields mean those of
// DefaultPatience.
type Patience struct {
	First   batch.Duration // before a message is repeated for the first time; it doubles
	Longest batch.Duration // between two of them
	Move    batch.Duration // before a move that the target does not answer is given up
	Idle    batch.Duration // before an incoming job makes room for others
}

// DefaultPatience is the default of Config.Patience. A move may take long: the
// target fetches the job's input before it answers.
var DefaultPatience = Patience{First: batch.Second, Longest: 30 * batch.Second, Move: 10 * batch.Minute, Idle: 30 * batch.Second}

// Validate reports everything that is wrong, each with its key.
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
	perProcessor int64 // memory, bytes; 0 is not known
	nodeMemory   int64 // of the largest node, bytes; 0 is not known
	slowest      int32 // score of the slowest node; 0: they have none

	tuner    tuner
	scratch  scratch
	book     book
	draining bool
	voided   map[stay]uint32 // the highest attempt that was undone
	learnt   map[string]*sampleLog
	news     []Told // ends that those are being told of who wait for them

	reserved   reservations
	agreements Agreements

	fx       Effects
	dirty    []*Job // changed since the last Take
	recalled []*Job // brought back to memory since then
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
		First: cmp.Or(c.Patience.First, DefaultPatience.First), Longest: cmp.Or(c.Patience.Longest, DefaultPatience.Longest),
		Move: cmp.Or(c.Patience.Move, DefaultPatience.Move), Idle: cmp.Or(c.Patience.Idle, DefaultPatience.Idle),
	}
	c.Patience.Longest = max(c.Patience.Longest, c.Patience.First)
	s := &Site{
		config: c, width: c.MaxWidth, processors: c.Platform.Width(), perProcessor: c.Platform.MemoryPerProcessor(),
		tuner: tuner{method: c.Tuning}, book: book{byID: make(map[batch.JobID]*Job)},
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

// Config returns what the site is, with its defaults filled in.
func (s *Site) Config() Config { return s.config }

// longest returns the longest walltime that a job may have.
func (s *Site) longest() batch.Duration { return cmp.Or(s.config.MaxWalltime, catalogue.MaxTime) }

// Job returns a job, or a *problem.Problem when this site does not know it.
func (s *Site) Job(id batch.JobID) (Job, error) {
	j := s.book.byID[id]
	if j == nil || j.State == Absent {
		return Job{}, unknownJob(id)
	}
	return *j, nil
}

// charge returns the processors that a planner books for a job; 0 of one that
// has none here.
func (s *Site) charge(j *Job) int32 {
	if j.Needs == nil {
		return 0
	}
	return batch.Charge(j.Shape.Width, j.Needs.Memory, s.perProcessor)
}

// Load is a site's queue in figures.
type Load struct {
	Running    int        // jobs that hold processors, those being launched too
	Waiting    int        // jobs that wait and have not left, held ones too
	Bound      int        // waiting jobs that stay whatever happens: see Job.Bound
	Incoming   int        // jobs that have a place here and may yet stay elsewhere
	Ended      int64      // jobs that have ended here
	Busy       int32      // processors held
	Processors int32      // processors of the site
	Backlog    batch.Area // of the waiting jobs, by walltime
}

// Load returns the figures. It costs nothing: they are kept up to date.
func (s *Site) Load() Load {
	l := s.book.load
	l.Processors = s.processors
	return l
}

// count adds a job to the figures, or takes it out: sign is 1 or -1.
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
