package reallocation

import "fmt"

// The names that rows have for algorithms, heuristics, tunings and settings.
const (
	regular      = "regular"
	cancellation = "all-cancellation"
	reference    = "none" // the algorithm of a run without reallocation
	mct          = "mct"
	minmin       = "minmin"
	binary       = "binary"
	exhaustive   = "exhaustive"
)

// Way is a way to reallocate, in the words of the rows.
type Way struct {
	Algorithm, Heuristic, Window, Period, Threshold, Patience string
}

// anything stands for a setting that makes no difference.
const anything = "-"

// meaning returns the way without what makes no difference: mct compares no jobs,
// so it has no window; only regular looks at the threshold, and only
// all-cancellation at the patience.
func (w Way) meaning() Way {
	if w.Heuristic == mct {
		w.Window = anything
	}
	if w.Algorithm == regular {
		w.Patience = anything
	} else {
		w.Threshold = anything
	}
	return w
}

// Key names an experiment.
type Key struct {
	Scenario               string
	Homogeneous, Dedicated bool
	Tuning                 string // binary, exhaustive
	Seed                   uint64
	Way                    Way
}

// String reads like "pwa, dedicated, binary tuning, seed 3, MinMin-can".
func (k Key) String() string {
	text := k.Scenario
	if k.Homogeneous {
		text += ", homogeneous"
	}
	return fmt.Sprintf("%s, %s, %s tuning, seed %d, %s", text, platform(k.Dedicated), k.Tuning, k.Seed, coupleOf(k.Way))
}

func platform(dedicated bool) string {
	if dedicated {
		return "dedicated"
	}
	return "non-dedicated"
}

// Row is one experiment and what came of it, compared with the run of the same
// jobs without reallocation. Times are in seconds. Of jobs, only the grid's count.
type Row struct {
	Key
	GridJobs      int
	Impacted      int      // jobs whose completion has changed
	Reallocations int      // moves
	Early         int      // impacted jobs that were completed earlier
	Relative      optional // mean response of the impacted jobs, with over without

	Response, ResponseReference float64 // means over all jobs of the grid
	Slowdown, SlowdownReference float64 // bounded slowdown, likewise
	Estimates                   int     // that sites were asked for
	PutBackLater                int     // the most rounds in which one job got a later place
}

// optional is a figure that may be undefined: a mean over no jobs.
type optional struct {
	value   float64
	defined bool
}

func over(a, b float64) optional {
	if b <= 0 {
		return optional{}
	}
	return optional{a / b, true}
}
