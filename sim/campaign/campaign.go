package campaign

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
)

// Limits of a campaign.
const (
	// MaxExperiments bounds the experiments of a campaign, including references.
	MaxExperiments = 250_000
	// MaxValues bounds each list of a campaign file.
	MaxValues = 10_000
	// maxFile bounds a campaign file, in bytes.
	maxFile = 1 << 20
)

// Campaign lists the values to combine. Each list has at least one value and no duplicates.
// Results have the order of the lists.
type Campaign struct {
	Name        string
	Scenarios   []Scenario
	Seeds       []uint64
	Dedicated   []bool // false: most jobs are local, see sim.Scenario
	Homogeneous []bool // true: all sites have speed 1
	Tunings     []site.Tuning
	Algorithms  []reallocation.Algorithm
	Heuristics  []reallocation.Heuristic
	Windows     []reallocation.Window
	Periods     []batch.Duration
	Thresholds  []batch.Duration
	Patience    []int

	// Days cuts each scenario to its first days; 0 does not cut. Quick sets it.
	Days int
}

// Scenario is a scenario of a campaign.
type Scenario struct {
	Name string // the name in the campaign file and in rows
	Path string // traces are searched relative to this file
	Text []byte // rows of different texts belong to different campaigns
	Grid *sim.Scenario
}

// format is a campaign file.
//
//	version: 1
//	name: paper
//	scenarios: [pwa, m1, mine.yaml]
//	seeds: 1..10
//	heuristics: [mct, minmin]
//	windows: [20, all]
type format struct {
	Version     int          `yaml:"version"`
	Name        string       `yaml:"name"`
	Scenarios   []string     `yaml:"scenarios"`
	Seeds       config.Value `yaml:"seeds"` // from..to, or a list
	Dedicated   []string     `yaml:"dedicated"`
	Homogeneous []string     `yaml:"homogeneous"`
	Tunings     []string     `yaml:"tunings"`
	Algorithms  []string     `yaml:"algorithms"`
	Heuristics  []string     `yaml:"heuristics"`
	Windows     []string     `yaml:"windows"`
	Periods     []string     `yaml:"periods"`
	Thresholds  []string     `yaml:"thresholds"`
	Patience    []string     `yaml:"patience"`
}

// parser builds a Campaign from a format.
type parser struct {
	// find returns a scenario by name or path.
	find     reader[string, Scenario]
	problems []*config.FieldError
}

func (p *parser) bad(key, value, accepted string) {
	p.problems = append(p.problems, &config.FieldError{Key: key, Value: value, Accepted: accepted})
}

// parse reads a campaign file. The error lists every problem with its line and key.
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
		Seeds: p.seeds(f.Seeds),

		Dedicated:   list(p, "dedicated", f.Dedicated, strconv.FormatBool, accepts(parseTruth, "true, false")),
		Homogeneous: list(p, "homogeneous", f.Homogeneous, strconv.FormatBool, accepts(parseTruth, "true, false")),
		Tunings:     list(p, "tunings", f.Tunings, site.Tuning.String, nameOf(site.Tuning.String)),
		Algorithms: list(p, "algorithms", f.Algorithms, reallocation.Algorithm.String,
			nameOf(reallocation.Algorithm.String)),
		Heuristics: list(p, "heuristics", f.Heuristics, reallocation.Heuristic.String,
			nameOf(reallocation.Heuristic.String)),
		Windows: list(p, "windows", f.Windows, reallocation.Window.String,
			accepts(sound(reallocation.ParseWindow), "at least 1, or all")),
		Periods:    list(p, "periods", f.Periods, durationText, length(batch.Second)),
		Thresholds: list(p, "thresholds", f.Thresholds, durationText, length(0)),
		Patience: list(p, "patience", f.Patience, reallocation.PatienceText,
			accepts(sound(reallocation.ParsePatience), "0 or more, or off")),
		Scenarios: list(p, "scenarios", f.Scenarios, func(s Scenario) string { return s.Name }, p.find),
	}
	if len(p.problems) == 0 {
		if c.most() > MaxExperiments {
			p.problems = append(p.problems,
				&config.FieldError{Message: fmt.Sprintf("too many experiments, accepted: at most %d", MaxExperiments)})
		}
	}
	if err := file.Check(p.problems); err != nil {
		return nil, err
	}
	return c, nil
}

// wellNamed reports whether a name can be part of a folder name on every system.
func wellNamed(name string) bool {
	const accepted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return name != "" && len(name) <= 64 && strings.Trim(name, accepted) == ""
}

// reader parses a value, or reports what is wrong with it; of is the key of its list.
type reader[F, T any] func(F) (T, *config.FieldError)

// list parses the values of a list and refuses duplicates. It compares canonical texts, so [1h,
// 60m] has a duplicate.
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

// accepts returns a reader for a function that reports whether a text is valid.
func accepts[T any](parse func(string) (T, bool), accepted string) reader[string, T] {
	return func(text string) (T, *config.FieldError) {
		v, ok := parse(text)
		if !ok {
			return v, &config.FieldError{Value: text, Accepted: accepted}
		}
		return v, nil
	}
}

// nameOf returns a reader for names that stand for the numbers from 0 on.
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

// sound adapts a parser to accepts; the caller lists the accepted values.
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

// embedded contains the included campaigns.
//
//go:embed *.yaml
var embedded embed.FS

// Names lists the included campaigns.
func Names() []string {
	entries, err := embedded.ReadDir(".")
	if err != nil {
		panic(err) // embedded in the binary
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load reads an included campaign by name, or a campaign file. The error can be an
// *UnknownError or a *FileError.
func Load(name string) (*Campaign, error) {
	var data []byte
	var err error
	if slices.Contains(Names(), name) {
		data, err = embedded.ReadFile(name + ".yaml")
	} else {
		data, err = read(name, maxFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &UnknownError{name, Names()}
	}
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	p := parser{find: func(scenario string) (Scenario, *config.FieldError) { return find(name, scenario) }}
	c, err := p.parse(data)
	if err != nil {
		return nil, &FileError{name, err}
	}
	return c, nil
}

// read reads a regular file of up to most bytes.
func read(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: no regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: over %d bytes", path, most)
	}
	return data, err
}

// find returns a scenario of a campaign: an included one, or a file with a path relative to the
// campaign's folder.
func find(campaign, name string) (Scenario, *config.FieldError) {
	s := Scenario{Name: name, Path: name}
	var err error
	comes := false
	if s.Text, comes = scenarios.Text(name); !comes {
		if !filepath.IsAbs(name) {
			s.Path = filepath.Join(filepath.Dir(campaign), name)
		}
		s.Text, err = read(s.Path, sim.MaxScenario)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, &config.FieldError{
			Value: name,
			Accepted: strings.Join(scenarios.Names(), ", ") + ", or the path of a scenario file from the campaign's " +
				"folder",
		}
	case err != nil:
		return s, &config.FieldError{Message: err.Error()}
	}
	if s.Grid, err = sim.ParseScenario(bytes.NewReader(s.Text), s.Path); err != nil {
		return s, &config.FieldError{Message: err.Error()}
	}
	return s, nil
}
