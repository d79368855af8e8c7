package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Reallocation configures how waiting jobs of a scenario change sites. Empty fields have the
// values of reallocation.Default; durations have a unit.
type Reallocation struct {
	Algorithm      string `yaml:"algorithm"` // regular (default), all-cancellation
	Heuristic      string `yaml:"heuristic"` // mct (default), minmin, maxmin, sufferage, maxgain, maxrelgain
	Window         string `yaml:"window"`    // a number, or all
	Period         string `yaml:"period"`
	Threshold      string `yaml:"threshold"`
	LeastGain      string `yaml:"least_gain"`
	MostMoves      int    `yaml:"most_moves"`       // of a job; 0: no bound
	MostMovesRound int    `yaml:"most_moves_round"` // 0: no bound
	Patience       string `yaml:"patience"`         // a number, or off: no guard against starvation
}

// config returns the configuration, or all problems.
func (c *Reallocation) config() (reallocation.Config, []error) {
	var errs []error
	out := reallocation.Default
	keep := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	var err error
	out.Algorithm, err = reallocation.ParseAlgorithm(c.Algorithm)
	keep(err)
	out.Heuristic, err = reallocation.ParseHeuristic(c.Heuristic)
	keep(err)
	if c.Window != "" {
		out.Window, err = reallocation.ParseWindow(c.Window)
		keep(err)
	}
	for _, d := range []struct {
		key, text string
		out       *batch.Duration
		least     batch.Duration
	}{
		{"period", c.Period, &out.Period, batch.Second},
		{"threshold", c.Threshold, &out.Threshold, 0},
		{"least_gain", c.LeastGain, &out.LeastGain, 0},
	} {
		if d.text == "" {
			continue
		}
		length, err := ParseLength(d.text)
		if err != nil || length < d.least {
			errs = append(errs, fmt.Errorf("%s: %q, accepted: a length of time with its unit, at least %v", d.key,
				d.text,
				d.least))
			continue
		}
		*d.out = length
	}
	out.MostMoves, out.MostMovesRound = c.MostMoves, c.MostMovesRound
	if c.Patience != "" {
		out.Patience, err = reallocation.ParsePatience(c.Patience)
		keep(err)
	}
	if len(errs) == 0 {
		keep(out.Validate())
	}
	return out, errs
}

// validate returns all problems, one error per key.
func (c *Reallocation) validate() []error {
	_, errs := c.config()
	var list []error
	for _, err := range errs {
		if joined, ok := errors.AsType[interface {
			error
			Unwrap() []error
		}](err); ok {
			list = append(list, joined.Unwrap()...)
			continue
		}
		list = append(list, err)
	}
	return list
}

// after returns the first multiple of a period at or after an instant, or batch.Never if there
// is none.
func after(now batch.Time, period batch.Duration) batch.Time {
	p := batch.Time(period)
	k := now / p
	if k*p < now {
		k++
	}
	if k > math.MaxInt64/p {
		return batch.Never
	}
	return k * p
}
