package site

import (
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
	Platform batch.Platform
	Speed    catalogue.Speed // of every processor; 0 means catalogue.Reference
	// Catalogue is what the site offers. With nil, a request's service is only
	// a name, and the request has to bring its menu.
	Catalogue *catalogue.Catalogue
	Tuning    Tuning
	MaxWidth  int32 // widest job, processors; 0 means all of the platform
}

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
	return errors.Join(errs...)
}

// Site is the state of one site.
type Site struct {
	config       Config
	width        int32 // widest job
	processors   int32 // of the platform
	perProcessor int64 // memory, bytes; 0 is not known
	nodeMemory   int64 // of the largest node, bytes; 0 is not known

	tuner   tuner
	scratch scratch
	book    book
}

// New returns a site without jobs.
func New(c Config) (*Site, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	if c.Speed == 0 {
		c.Speed = catalogue.Reference
	}
	s := &Site{
		config: c, width: c.MaxWidth, processors: c.Platform.Width(), perProcessor: c.Platform.MemoryPerProcessor(),
		tuner: tuner{method: c.Tuning}, book: book{byID: make(map[batch.JobID]*Job)},
	}
	if s.width == 0 {
		s.width = s.processors
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
