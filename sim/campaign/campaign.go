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

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
)

// The limits of a campaign.
const (
	// MaxExperiments bounds a campaign, its references included.
	MaxExperiments = 250_000
	// MaxValues bounds each list of a campaign file.
	MaxValues = 10_000
	// maxFile bounds a campaign file, in bytes.
	maxFile = 1 << 20
)

// Campaign is what is combined with what. Each list has at least one value, and
// none twice; results have the order of the lists.
type Campaign struct {
	Name        string
	Scenarios   []Scenario
	Seeds       []uint64
	Dedicated   []bool // false: most jobs are local users', see the scenario
	Homogeneous []bool // true: all sites have speed 1
	Tunings     []site.Tuning
	Algorithms  []reallocation.Algorithm
	Heuristics  []reallocation.Heuristic
	Windows     []reallocation.Window
	Periods     []batch.Duration
	Thresholds  []batch.Duration
	Patience    []int

	// Days cuts each scenario to its first days; 0: it is not cut. Quick sets it.
	Days int
}

// Scenario is one of a campaign.
type Scenario struct {
	Name string // as the campaign has it, and the rows
	Path string // its traces are looked for beside this file
	Text []byte // rows of two texts are not of one campaign
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

// embedded are the campaigns that come with Drover.
//
//go:embed *.yaml
var embedded embed.FS

// Names lists the campaigns that come with Drover.
func Names() []string {
	entries, err := embedded.ReadDir(".")
	if err != nil {
		panic(err) // it is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load reads a campaign: one that comes with Drover by its name, else a file. The
// error can be an *UnknownError, a *FileError.
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

// read reads a regular file of so many bytes at most.
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

// find returns a scenario of a campaign: one that comes with Drover, or a file,
// its path starts at the campaign's folder.
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
			Value:    name,
			Accepted: strings.Join(scenarios.Names(), ", ") + ", or the path of a scenario file from the campaign's folder",
		}
	case err != nil:
		return s, &config.FieldError{Message: err.Error()}
	}
	if s.Grid, err = sim.ParseScenario(bytes.NewReader(s.Text), s.Path); err != nil {
		return s, &config.FieldError{Message: err.Error()}
	}
	return s, nil
}
