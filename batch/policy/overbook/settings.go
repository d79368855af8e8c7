package overbook

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
)

// settings are the options of the policy.
type settings struct {
	maxPoF  runtimes.Chance // of a shortened job; 0: nobody is overbooked
	uniform bool            // overestimation is taken for uniform, not as it was seen
	samples int             // that a distribution needs
	history int             // samples kept of each key
	all     bool            // whoever has no agreement may be shortened, too
	needed  bool            // only where there is no full fit in time
	round   batch.Duration  // short times are whole multiples of it
}

// defaults: one of ten fails, by what was seen of at least 20 jobs.
var defaults = settings{maxPoF: 100_000, samples: 20, history: runtimes.Default.Samples, round: batch.Minute}

// keys are the settings' names.
var keys = []string{"maxPoF", "distribution", "samples", "history", "shorten", "when", "round"}

func parse(s batch.Settings) (settings, error) {
	set := defaults
	var all []error
	if err := s.Only("overbook", keys...); err != nil {
		all = append(all, err)
	}
	for _, k := range keys {
		v, ok := s[k]
		if !ok {
			continue
		}
		if accepted := set.put(k, v); accepted != "" {
			all = append(all, &batch.SettingError{Policy: "overbook", Key: k, Value: quoted(v), Accepted: accepted})
		}
	}
	if len(all) == 0 && set.samples > set.history {
		all = append(all, &batch.SettingError{
			Policy: "overbook", Key: "samples", Value: strconv.Itoa(set.samples), Accepted: fmt.Sprintf("1..%d, as many as history keeps", set.history),
		})
	}
	return set, errors.Join(all...)
}

// quoted makes a value that is not there one that can be seen: an empty Value would
// say that the key is unknown.
func quoted(v string) string {
	if v == "" {
		return "(empty)"
	}
	return v
}

// put takes in one setting, and returns what would have been accepted if it cannot.
func (s *settings) put(k, v string) string {
	switch k {
	case "maxPoF":
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return "a probability from 0 to 1, as 0.13"
		}
		s.maxPoF = runtimes.Chance(math.Round(f * float64(runtimes.Certain)))
	case "distribution":
		return choose(v, &s.uniform, "empirical", "uniform")
	case "shorten":
		return choose(v, &s.all, "agreed", "all")
	case "when":
		return choose(v, &s.needed, "always", "needed")
	case "samples":
		return count(v, &s.samples)
	case "history":
		return count(v, &s.history)
	case "round":
		d, err := time.ParseDuration(v)
		if err != nil || d < time.Microsecond || d > 24*time.Hour {
			return "a length of time with its unit, from 1us to 24h"
		}
		s.round = batch.Duration(d / time.Microsecond)
	}
	return ""
}

func choose(v string, second *bool, names ...string) string {
	if v != names[0] && v != names[1] {
		return names[0] + ", " + names[1]
	}
	*second = v == names[1]
	return ""
}

func count(v string, n *int) string {
	i, err := strconv.Atoi(v)
	if err != nil || i < 1 || i > runtimes.MaxSamples {
		return fmt.Sprintf("1..%d", runtimes.MaxSamples)
	}
	*n = i
	return ""
}

// up returns d rounded up to whole units.
func (s *settings) up(d batch.Duration) batch.Duration {
	if d > batch.Forever-s.round {
		return batch.Forever
	}
	return (d + s.round - 1) / s.round * s.round
}
