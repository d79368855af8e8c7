package campaign

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim"
)

// format is a campaign file.
//
//	version: 1
//	name: paper
//	scenarios: [pwa, m1, mine.yaml]
//	seeds: 1..10
//	heuristics: [mct, minmin]
//	windows: [20, all]
type format struct {
	Version     int       `yaml:"version"`
	Name        string    `yaml:"name"`
	Scenarios   []string  `yaml:"scenarios"`
	Seeds       yaml.Node `yaml:"seeds"` // from..to, or a list
	Dedicated   []string  `yaml:"dedicated"`
	Homogeneous []string  `yaml:"homogeneous"`
	Tunings     []string  `yaml:"tunings"`
	Algorithms  []string  `yaml:"algorithms"`
	Heuristics  []string  `yaml:"heuristics"`
	Windows     []string  `yaml:"windows"`
	Periods     []string  `yaml:"periods"`
	Thresholds  []string  `yaml:"thresholds"`
	Patience    []string  `yaml:"patience"`
}

// parser turns a format into a Campaign.
type parser struct {
	// find returns a scenario by its name or path.
	find     reader[string, Scenario]
	problems []*config.FieldError
}

func (p *parser) bad(key, value, accepted string) {
	p.problems = append(p.problems, &config.FieldError{Key: key, Value: value, Accepted: accepted})
}

// parse reads a campaign file; the error is everything that is wrong with it,
// each with its line and key.
func (p *parser) parse(data []byte) (*Campaign, error) {
	d := reallocation.Default
	f := &format{
		Dedicated: []string{"true"}, Homogeneous: []string{"false"}, Tunings: []string{site.Exhaustive.String()},
		Algorithms: []string{d.Algorithm.String()}, Heuristics: []string{d.Heuristic.String()},
		Windows: []string{d.Window.String()}, Periods: []string{durationText(d.Period)},
		Thresholds: []string{durationText(d.Threshold)}, Patience: []string{reallocation.PatienceText(d.Patience)},
	}
	file, err := config.Read(data, f)
	if err != nil {
		return nil, err
	}
	if f.Version != 1 {
		p.bad("version", strconv.Itoa(f.Version), "1")
	}
	if !wellNamed(f.Name) {
		p.bad("name", f.Name, "1 to 64 letters, digits, - and _")
	}
	c := &Campaign{
		Name:  f.Name,
		Seeds: p.seeds(&f.Seeds),

		Dedicated:   list(p, "dedicated", f.Dedicated, strconv.FormatBool, accepts(parseTruth, "true, false")),
		Homogeneous: list(p, "homogeneous", f.Homogeneous, strconv.FormatBool, accepts(parseTruth, "true, false")),
		Tunings:     list(p, "tunings", f.Tunings, site.Tuning.String, nameOf(site.Tuning.String)),
		Algorithms:  list(p, "algorithms", f.Algorithms, reallocation.Algorithm.String, nameOf(reallocation.Algorithm.String)),
		Heuristics:  list(p, "heuristics", f.Heuristics, reallocation.Heuristic.String, nameOf(reallocation.Heuristic.String)),
		Windows:     list(p, "windows", f.Windows, reallocation.Window.String, accepts(sound(reallocation.ParseWindow), "at least 1, or all")),
		Periods:     list(p, "periods", f.Periods, durationText, length(batch.Second)),
		Thresholds:  list(p, "thresholds", f.Thresholds, durationText, length(0)),
		Patience:    list(p, "patience", f.Patience, reallocation.PatienceText, accepts(sound(reallocation.ParsePatience), "0 or more, or off")),
		Scenarios:   list(p, "scenarios", f.Scenarios, func(s Scenario) string { return s.Name }, p.find),
	}
	if len(p.problems) == 0 {
		if c.most() > MaxExperiments {
			p.problems = append(p.problems, &config.FieldError{Message: fmt.Sprintf("too many experiments, accepted: at most %d", MaxExperiments)})
		}
	}
	if err := file.Check(p.problems); err != nil {
		return nil, err
	}
	return c, nil
}

// wellNamed says whether a name can be part of a folder's everywhere.
func wellNamed(name string) bool {
	const accepted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return name != "" && len(name) <= 64 && strings.Trim(name, accepted) == ""
}

// reader reads a value, or says what is wrong with it; of which key list knows.
type reader[F, T any] func(F) (T, *config.FieldError)

// list reads the values of a list and refuses those that it has twice: of texts
// that mean the same the canonical ones are compared, so [1h, 60m] is one twice.
func list[F, T any](p *parser, key string, from []F, text func(T) string, read reader[F, T]) []T {
	if len(from) == 0 || len(from) > MaxValues {
		p.bad(key, fmt.Sprintf("%d values", len(from)), fmt.Sprintf("1 to %d values", MaxValues))
		return nil
	}
	seen := make(map[string]bool, len(from))
	out := make([]T, 0, len(from))
	for i, f := range from {
		v, problem := read(f)
		if problem == nil && seen[text(v)] {
			problem = &config.FieldError{Message: text(v) + ": given twice, accepted: once"}
		}
		if problem != nil {
			problem.Key = fmt.Sprintf("%s[%d]", key, i)
			p.problems = append(p.problems, problem)
			continue
		}
		seen[text(v)] = true
		out = append(out, v)
	}
	return out
}

// accepts makes a reader of a parser that knows whether a text is good.
func accepts[T any](parse func(string) (T, bool), accepted string) reader[string, T] {
	return func(text string) (T, *config.FieldError) {
		v, ok := parse(text)
		if !ok {
			return v, &config.FieldError{Value: text, Accepted: accepted}
		}
		return v, nil
	}
}

// nameOf makes a reader of the names that the numbers from 0 on have.
func nameOf[T ~uint8](text func(T) string) reader[string, T] {
	var names []string
	for v := T(0); text(v) != text(math.MaxUint8); v++ {
		names = append(names, text(v))
	}
	return accepts(func(text string) (T, bool) {
		i := slices.Index(names, text)
		return T(max(i, 0)), i >= 0
	}, strings.Join(names, ", "))
}

func parseTruth(text string) (yes, ok bool) { return text == "true", text == "true" || text == "false" }

// sound makes of a parser one that only knows whether a text is good: what is
// accepted says the list.
func sound[T any](parse func(string) (T, error)) func(string) (T, bool) {
	return func(text string) (T, bool) {
		v, err := parse(text)
		return v, err == nil
	}
}

func length(least batch.Duration) reader[string, batch.Duration] {
	return accepts(func(text string) (batch.Duration, bool) {
		d, err := sim.ParseLength(text)
		return d, text != "" && err == nil && d >= least
	}, "a length of time with its unit, as 90s, 1h30m or 1d, at least "+durationText(least))
}

func durationText(d batch.Duration) string {
	return d.Std().String()
}
