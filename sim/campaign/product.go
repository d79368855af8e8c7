package campaign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim"
)

// Experiment is an experiment of a campaign.
type Experiment struct {
	Scenario    int // index into Campaign.Scenarios
	Homogeneous bool
	Dedicated   bool
	Tuning      site.Tuning
	Seed        uint64
	Reference   bool // without reallocation
	// Reallocation is the zero Config for a reference.
	Reallocation reallocation.Config

	// Key returns the first columns of the row. The keys of a campaign are unique.
	Key [keys]string
}

// none is the algorithm of a reference.
const none = "none"

// String describes an experiment for people.
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
		text, r.Algorithm, r.Heuristic, r.Window.String(), durationText(r.Period), durationText(r.Threshold),
		reallocation.PatienceText(r.Patience))
}

// Experiments returns all experiments in the order of the results: each reference, then the
// experiments that are compared with it.
//
// It omits experiments that would repeat another one. MCT compares no jobs, so it runs with the
// first window only. Only the algorithm regular uses the threshold and only all-cancellation
// uses the patience; the other one runs with the first of these values only.
func (c *Campaign) Experiments() []Experiment {
	var all []Experiment
	ways := c.ways()
	for s := range c.Scenarios {
		for _, homogeneous := range c.Homogeneous {
			for _, dedicated := range c.Dedicated {
				for _, tuning := range c.Tunings {
					for _, seed := range c.Seeds {
						reference := Experiment{
							Scenario: s, Homogeneous: homogeneous, Dedicated: dedicated, Tuning: tuning, Seed: seed,
							Reference: true,
							Key: [keys]string{
								c.Scenarios[s].Name, strconv.FormatBool(homogeneous), strconv.FormatBool(dedicated),
								tuning.String(), strconv.FormatUint(seed, 10), none,
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

// with returns the experiment of a reference with a reallocation setting.
func (e Experiment) with(w reallocation.Config) Experiment {
	e.Reference, e.Reallocation = false, w
	copy(e.Key[5:], []string{
		w.Algorithm.String(), w.Heuristic.String(), w.Window.String(),
		sim.Seconds(w.Period), sim.Seconds(w.Threshold), reallocation.PatienceText(w.Patience),
	})
	return e
}

// ways returns the reallocation settings.
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

// count returns the number of experiments.
func (c *Campaign) count() int { return c.references() * (len(c.ways()) + 1) }

// references returns the number of groups.
func (c *Campaign) references() int {
	return product(len(c.Scenarios), len(c.Homogeneous), len(c.Dedicated), len(c.Tunings), len(c.Seeds))
}

// most returns an upper bound of the number of experiments: it counts repetitions too.
func (c *Campaign) most() int {
	ways := product(len(c.Algorithms), len(c.Heuristics), len(c.Windows), len(c.Periods), len(c.Thresholds),
		len(c.Patience))
	return product(c.references(), ways+1)
}

// product multiplies, and stops above the limit.
func product(factors ...int) int {
	n := 1
	for _, f := range factors {
		if n *= f; n > MaxExperiments {
			return MaxExperiments + 1
		}
	}
	return n
}

const seedsAccepted = "1..10, or a list of whole numbers from 0 on, as [1, 2, 5]"

// seeds parses a range or a list.
func (p *parser) seeds(v config.Value) []uint64 {
	if items, ok := v.Items(); ok {
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i], _ = item.Text() // "" for a value that is no scalar: it is no number
		}
		return list(p, "seeds", texts, func(s uint64) string { return strconv.FormatUint(s, 10) },
			accepts(parseSeed, "a whole number from 0 on"))
	}
	text, _ := v.Text()
	first, last, ranged := strings.Cut(text, "..")
	from, err := strconv.ParseUint(first, 10, 64)
	to := from
	if ranged && err == nil {
		to, err = strconv.ParseUint(last, 10, 64)
	}
	if err != nil || to < from {
		p.bad("seeds", text, seedsAccepted)
		return nil
	}
	if to-from >= MaxValues {
		p.bad("seeds", text, fmt.Sprintf("at most %d seeds", MaxValues))
		return nil
	}
	seeds := make([]uint64, 0, to-from+1)
	for i := range to - from + 1 {
		seeds = append(seeds, from+i)
	}
	return seeds
}

func parseSeed(text string) (uint64, bool) {
	seed, err := strconv.ParseUint(text, 10, 64)
	return seed, err == nil
}

// What Quick leaves of a campaign.
const (
	quickDays        = 14
	quickExperiments = 100
)

// Quick returns a small part of a campaign that runs in under a minute on two cores, and
// describes what it cut: one seed, the first days of each scenario, and the first values of
// lists that are still too long.
func (c *Campaign) Quick() (*Campaign, []string) {
	q := *c
	q.Days = quickDays
	cuts := []string{fmt.Sprintf("the first %d days of each scenario", q.Days)}
	lists := []cuttable{
		{"homogeneous", len(q.Homogeneous), func(n int) { q.Homogeneous = q.Homogeneous[:n] }},
		{"tunings", len(q.Tunings), func(n int) { q.Tunings = q.Tunings[:n] }},
		{"thresholds", len(q.Thresholds), func(n int) { q.Thresholds = q.Thresholds[:n] }},
		{"periods", len(q.Periods), func(n int) { q.Periods = q.Periods[:n] }},
		{"scenarios", len(q.Scenarios), func(n int) { q.Scenarios = q.Scenarios[:n] }},
		{"heuristics", len(q.Heuristics), func(n int) { q.Heuristics = q.Heuristics[:n] }},
		{"patience", len(q.Patience), func(n int) { q.Patience = q.Patience[:n] }},
		{"windows", len(q.Windows), func(n int) { q.Windows = q.Windows[:n] }},
		{"algorithms", len(q.Algorithms), func(n int) { q.Algorithms = q.Algorithms[:n] }},
		{"dedicated", len(q.Dedicated), func(n int) { q.Dedicated = q.Dedicated[:n] }},
	}
	if len(c.Seeds) > 1 {
		q.Seeds = c.Seeds[:1]
		cuts = append(cuts, fmt.Sprintf("1 of %d seeds", len(c.Seeds)))
	}
	whole := slices.Clone(lists)
	for q.count() > quickExperiments {
		// The longest list loses its last value; the first of equally long ones.
		longest := &lists[0]
		for i := range lists {
			if lists[i].n > longest.n {
				longest = &lists[i]
			}
		}
		longest.n--
		longest.cut(longest.n)
	}
	for i := range lists {
		if n, of := lists[i].n, whole[i].n; n < of {
			cuts = append(cuts, fmt.Sprintf("%d of %d %s", n, of, lists[i].key))
		}
	}
	return &q, cuts
}

// cuttable is a list that Quick can cut.
type cuttable struct {
	key string
	n   int
	cut func(n int)
}
