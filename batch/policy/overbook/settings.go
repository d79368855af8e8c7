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

// settings are the parsed options of the policy.
type settings struct {
	maxPoF  runtimes.Chance // accepted probability of failure; 0: no overbooking
	uniform bool            // assume uniform overestimation instead of the observed one
	samples int             // samples that a distribution needs
	history int             // samples kept of each key
	all     bool            // shorten jobs without an agreement, too
	needed  bool            // overbook only if there is no full fit in time
	round   batch.Duration  // shortened times are multiples of it
}

// defaults: one in ten fails, as observed over at least 20 jobs.
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
			Policy: "overbook", Key: "samples", Value: strconv.Itoa(set.samples),
			Accepted: fmt.Sprintf("1..%d, as many as history keeps", set.history),
		})
	}
	return set, errors.Join(all...)
}

// quoted makes an empty value visible: in a SettingError an empty Value means an unknown
// key.
func quoted(v string) string {
	if v == "" {
		return "(empty)"
	}
	return v
}

// put parses one setting. It returns the accepted values on error, "" otherwise.
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

// up returns d rounded up to a multiple of unit.
func (s *settings) up(d batch.Duration) batch.Duration {
	if d > batch.Forever-s.round {
		return batch.Forever
	}
	return (d + s.round - 1) / s.round * s.round
}
