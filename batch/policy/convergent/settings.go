package convergent

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/edf"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
)

// settings are the settings of the policy.
type settings struct {
	algorithm Algorithm
	constants heuristic.Constants
	matching  string // imfs, renew, mfs, mis
	avoid     bool
	refill    bool
	edf       edf.How
	deadlines bool // PresetDeadlines
}

// keys are the names of the settings, without those of the heuristics.
var keys = []string{"preset", "algorithm", "agingUnit", "waitPerJob", "matching", "avoid", "refill", "anew", "order"}

// longestUnit is the longest unit of aging.
const longestUnit = 366 * 24 * time.Hour

// parse reads settings. It returns all errors at once.
func parse(given batch.Settings) (settings, error) {
	set := settings{algorithm: CSip, constants: heuristic.Paper()}
	all := append(append([]string(nil), keys...), heuristic.Keys()...)
	wrong := append([]error{given.Only("convergent", all...)}, set.preset(given)...)
	for _, key := range all {
		v, ok := given[key]
		if !ok {
			continue
		}
		if accepted := set.put(key, v); accepted != "" {
			if v == "" {
				v = "(empty)" // an empty Value would mean an unknown key
			}
			wrong = append(wrong, &batch.SettingError{Policy: "convergent", Key: key, Value: v, Accepted: accepted})
		}
	}
	wrong = append(wrong, set.complete(given)...)
	return set, errors.Join(wrong...)
}

// put sets one setting. It returns "" on success, else a description of the accepted values.
func (s *settings) put(key, v string) string {
	switch key {
	case "preset": // already applied
	case "algorithm":
		a, ok := ParseAlgorithm(v)
		if !ok {
			return accepted()
		}
		s.algorithm = a
	case "agingUnit":
		d, err := time.ParseDuration(v)
		if err != nil || d < time.Microsecond || d > longestUnit || d%time.Microsecond != 0 {
			return "a duration with its unit, from 1us to " + longestUnit.String()
		}
		s.constants.AgingUnit = batch.Duration(d / time.Microsecond)
	case "matching":
		if v != "imfs" && v != "renew" && v != "mfs" && v != "mis" {
			return "imfs, renew (incremental), mfs, mis (from scratch)"
		}
		s.matching = v
	case "waitPerJob":
		return boolean(v, &s.constants.WaitPerJob)
	case "avoid":
		return boolean(v, &s.avoid)
	case "refill":
		return boolean(v, &s.refill)
	case "anew":
		return boolean(v, &s.edf.ReplanAll)
	case "order":
		i := slices.Index(edf.Orders, v)
		if i < 0 {
			return strings.Join(edf.Orders, ", ")
		}
		s.edf.Order = edf.Order(i)
	default:
		return s.constants.Set(key, v)
	}
	return ""
}

func boolean(v string, to *bool) string {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return "true, false"
	}
	*to = b
	return ""
}

// complete sets defaults and returns errors about combinations.
func (s *settings) complete(given batch.Settings) []error {
	a := s.algorithm
	var wrong []error
	refuse := func(key, accepted string) {
		wrong = append(wrong, &batch.SettingError{
			Policy: "convergent", Key: key, Value: given[key], Accepted: accepted,
		})
	}
	if _, set := given["overhead"]; !set && a.Convergent() && !a.Preempts() {
		s.constants.Overhead = heuristic.KeepRunning
	}
	if s.constants.DeadlineMin > s.constants.DeadlineMax {
		key := "deadlineMin"
		if _, set := given[key]; !set {
			key = "deadlineMax"
		}
		refuse(key, "deadlineMin at most deadlineMax")
	}
	incremental := s.matching == "imfs" || s.matching == "renew"
	switch {
	case s.matching == "" && a.Incremental() && s.deadlines:
		s.matching = "renew"
	case s.matching == "" && a.Incremental():
		s.matching = "imfs"
	case s.matching == "":
		s.matching = "mfs"
	case !a.Convergent():
		refuse("matching", "none with "+a.String()+", which has no matching")
	case incremental && !a.Incremental():
		refuse("matching", "mfs, mis with "+a.String())
	case !incremental && a.Incremental():
		refuse("matching", "imfs, renew with "+a.String())
	}
	if s.refill && !a.Convergent() {
		refuse("refill", "false with "+a.String()+", which discards no job")
	}
	if s.edf.ReplanAll && a != EDF {
		refuse("anew", "false with "+a.String()+": it is for EDF")
	}
	switch {
	case s.edf.Order != edf.Earliest && a != EDF:
		refuse("order", "earliest with "+a.String()+": it is for EDF")
	case s.edf.Order == edf.Queued && s.edf.ReplanAll:
		refuse("order", "earliest, latest with anew, where no job takes the machine of another")
	}
	return wrong
}

// heuristics returns the configured heuristics.
func (s *settings) heuristics() *heuristic.Collection {
	list := s.constants.Heuristics()
	for _, h := range list {
		if d, is := h.(*heuristic.Deadline); is {
			d.Avoid = s.avoid
		}
	}
	return heuristic.Collect(list...)
}

// Presets are named groups of settings. Explicit settings override them.
const (
	// PresetPaper is the paper's configuration: its constants, and no extensions.
	PresetPaper = "paper"
	// PresetDeadlines minimizes late jobs. A deadline counts from the start (k), short jobs go
	// first among jobs that can meet their deadlines (WM), and age does not matter (AA). Jobs
	// move more easily (Δ), machines that would miss a deadline do not attract a job, and an
	// incremental plan is exact. Jobs without a deadline wait longer in return.
	PresetDeadlines = "deadlines"
)

// preset applies the preset. It runs before all other settings.
func (s *settings) preset(given batch.Settings) []error {
	name, ok := given["preset"]
	if !ok || name == PresetPaper {
		return nil
	}
	if name != PresetDeadlines {
		if name == "" {
			name = "(empty)"
		}
		return []error{&batch.SettingError{
			Policy: "convergent", Key: "preset", Value: name, Accepted: PresetPaper + ", " + PresetDeadlines,
		}}
	}
	s.deadlines = true
	s.constants.DeadlineK = 100 * heuristic.One
	s.constants.Wait = 40 * heuristic.One
	s.constants.Aging = 0
	s.constants.Overhead = 2 * heuristic.One
	s.avoid = true
	return nil
}
