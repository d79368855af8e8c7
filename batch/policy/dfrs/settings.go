package dfrs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// settings are the parsed options of the policy.
type settings struct {
	algorithm Algorithm
	period    batch.Duration
	decay     batch.Duration   // 0: yields do not depend on virtual time
	owners    map[string]int32 // weights; not changed
	match     bool             // relabel nodes so that fewer jobs move
	declared  bool             // use declared needs, ignore measurements
}

// defaults are the paper's recommendation: a period of ten times a penalty of 300 s.
var defaults = settings{algorithm: Recommended, period: 3000 * batch.Second}

// keys are the settings' names.
var keys = []string{"algorithm", "period", "decay", "priorities", "match", "discover"}

// The longest period and decay, and the largest weight of an owner.
const (
	longest    = 366 * 24 * time.Hour
	mostWeight = 16
)

// parse parses settings and reports all errors at once.
func parse(s batch.Settings) (settings, error) {
	set := defaults
	wrong := []error{s.Only("dfrs", keys...)}
	for _, k := range keys {
		v, ok := s[k]
		if !ok {
			continue
		}
		if accepted := set.put(k, v); accepted != "" {
			if v == "" {
				v = "(empty)" // in a SettingError an empty Value means an unknown key
			}
			wrong = append(wrong, &batch.SettingError{Policy: "dfrs", Key: k, Value: v, Accepted: accepted})
		}
	}
	return set, errors.Join(append(wrong, set.idle(s)...)...)
}

// idle refuses settings that have no effect with the algorithm.
func (s *settings) idle(given batch.Settings) []error {
	var wrong []error
	a := &s.algorithm
	if s.decay > 0 && a.Opt != Min {
		wrong = append(wrong, &batch.SettingError{
			Policy: "dfrs", Key: "decay", Value: given["decay"],
			Accepted: "none with " + a.String() + ": only opt=min weights yields",
		})
	}
	if s.match && !a.packs() {
		wrong = append(wrong, &batch.SettingError{
			Policy: "dfrs", Key: "match", Value: given["match"],
			Accepted: "false with " + a.String() + ", which does not pack",
		})
	}
	return wrong
}

// put parses one setting. It returns the accepted values on error, "" otherwise.
func (s *settings) put(k, v string) (accepted string) {
	switch k {
	case "algorithm":
		a, err := Parse(v)
		var name *NameError
		if errors.As(err, &name) {
			return fmt.Sprintf("from byte %d on, in the place of %s: %s", name.Offset, name.rest(), name.Accepted)
		}
		s.algorithm = a
	case "period":
		return span(v, &s.period)
	case "decay":
		return span(v, &s.decay)
	case "priorities":
		return s.weights(v)
	case "match":
		b, err := strconv.ParseBool(v)
		if err != nil {
			return "true, false"
		}
		s.match = b
	case "discover":
		if v != "on" && v != "off" {
			return "on, off"
		}
		s.declared = v == "off"
	}
	return ""
}

func span(v string, to *batch.Duration) (accepted string) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second || d > longest || d%time.Microsecond != 0 {
		return "a length of time with its unit, from 1s to " + longest.String()
	}
	*to = batch.Duration(d / time.Microsecond)
	return ""
}

// weights parses owner:weight,owner:weight.
func (s *settings) weights(v string) (accepted string) {
	s.owners = map[string]int32{}
	for _, part := range strings.Split(v, ",") {
		at := strings.LastIndexByte(part, ':')
		if at < 1 {
			return "owner:weight,..."
		}
		owner, weight := part[:at], part[at+1:]
		w, err := strconv.Atoi(weight)
		if err != nil || w < 1 || w > mostWeight {
			return fmt.Sprintf("owner:weight,... with weights of 1..%d", mostWeight)
		}
		if _, twice := s.owners[owner]; twice {
			return "each owner once"
		}
		s.owners[owner] = int32(w)
	}
	return ""
}

// weightOf returns the weight of an owner's jobs.
func (s *settings) weightOf(owner string) int32 {
	if w, ok := s.owners[owner]; ok {
		return w
	}
	return 1
}

// weighs reports whether yields are weighted at all.
func (s *settings) weighs() bool { return s.decay > 0 || len(s.owners) > 0 }

// PeriodOf returns the period of a policy with these settings. It returns false if the
// settings are wrong, or if their algorithm does nothing periodically.
func PeriodOf(s batch.Settings) (batch.Duration, bool) {
	set, err := parse(s)
	return set.period, err == nil && set.algorithm.Period != NoPeriod
}

// ThrashingWarning explains what happens with a period no longer than the penalty for
// resuming or moving a job.
func ThrashingWarning(period, penalty batch.Duration) string {
	return fmt.Sprintf("warning: a period of %v is no longer than the penalty of %v: "+
		"a job moved in every period makes no progress (the paper's section 6.4.2)", period, penalty)
}
