package campaign

import (
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim"
)

// Experiment is one of a campaign.
type Experiment struct {
	Scenario    int // of Campaign.Scenarios
	Homogeneous bool
	Dedicated   bool
	Tuning      site.Tuning
	Seed        uint64
	Reference   bool // without reallocation
	// Reallocation is the zero Config in a reference.
	Reallocation reallocation.Config

	// Key are the first columns of its row. No two experiments of a campaign have
	// the same.
	Key [keys]string
}

// none is the algorithm of a reference.
const none = "none"

// String names an experiment to people.
func (e *Experiment) String() string {
	text := e.Key[0]
	if e.Homogeneous {
		text += ", homogeneous"
	}
	if !e.Dedicated {
		text += ", non-dedicated"
	}
	if e.Tuning != site.Exhaustive {
		text += fmt.Sprintf(", %v tuning", e.Tuning)
	}
	text += fmt.Sprintf(", seed %d", e.Seed)
	if e.Reference {
		return text + ", reference"
	}
	r := &e.Reallocation
	return fmt.Sprintf("%s, %v, %v, window %s, period %s, threshold %s, patience %s",
		text, r.Algorithm, r.Heuristic, r.Window.String(), durationText(r.Period), durationText(r.Threshold), reallocation.PatienceText(r.Patience))
}

// Experiments returns all experiments in the order of the results: each reference
// before those that are compared with it.
//
// What would only repeat another experiment is left out: mct compares no jobs, so
// it takes part with the first window alone; only regular looks at the threshold,
// and only all-cancellation at the patience, so the other one takes part with the
// first of these alone.
func (c *Campaign) Experiments() []Experiment {
	var all []Experiment
	ways := c.ways()
	for s := range c.Scenarios {
		for _, homogeneous := range c.Homogeneous {
			for _, dedicated := range c.Dedicated {
				for _, tuning := range c.Tunings {
					for _, seed := range c.Seeds {
						reference := Experiment{
							Scenario: s, Homogeneous: homogeneous, Dedicated: dedicated, Tuning: tuning, Seed: seed, Reference: true,
							Key: [keys]string{
								c.Scenarios[s].Name, strconv.FormatBool(homogeneous), strconv.FormatBool(dedicated), tuning.String(),
								strconv.FormatUint(seed, 10), none,
							},
						}
						all = append(all, reference)
						for _, w := range ways {
							all = append(all, reference.with(w))
						}
					}
				}
			}
		}
	}
	return all
}

// with returns the experiment that is compared with a reference.
func (e Experiment) with(w reallocation.Config) Experiment {
	e.Reference, e.Reallocation = false, w
	copy(e.Key[5:], []string{
		w.Algorithm.String(), w.Heuristic.String(), w.Window.String(),
		sim.Seconds(w.Period), sim.Seconds(w.Threshold), reallocation.PatienceText(w.Patience),
	})
	return e
}

// ways returns the ways to reallocate.
func (c *Campaign) ways() []reallocation.Config {
	var all []reallocation.Config
	for _, algorithm := range c.Algorithms {
		thresholds, patience := c.Thresholds, c.Patience
		if algorithm == reallocation.Regular {
			patience = patience[:1]
		} else {
			thresholds = thresholds[:1]
		}
		for _, heuristic := range c.Heuristics {
			windows := c.Windows
			if heuristic == reallocation.MCT {
				windows = windows[:1]
			}
			for _, window := range windows {
				for _, period := range c.Periods {
					for _, threshold := range thresholds {
						for _, p := range patience {
							all = append(all, reallocation.Config{
								Algorithm: algorithm, Heuristic: heuristic, Window: window,
								Period: period, Threshold: threshold, Patience: p,
							})
						}
					}
				}
			}
		}
	}
	return all
}

// count returns how many experiments there are.
func (c *Campaign) count() int { return c.references() * (len(c.ways()) + 1) }

// references returns how many groups there are.
func (c *Campaign) references() int {
	return product(len(c.Scenarios), len(c.Homogeneous), len(c.Dedicated), len(c.Tunings), len(c.Seeds))
}

// most bounds the number of experiments: it counts repetitions.
func (c *Campaign) most() int {
	ways := product(len(c.Algorithms), len(c.Heuristics), len(c.Windows), len(c.Periods), len(c.Thresholds), len(c.Patience))
	return product(c.references(), ways+1)
}

// product multiplies, and stops beyond what is accepted.
func product(factors ...int) int {
	n := 1
	for _, f := range factors {
		if n *= f; n > MaxExperiments {
			return MaxExperiments + 1
		}
	}
	return n
}
