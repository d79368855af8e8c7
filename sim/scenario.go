package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policies"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// MaxSites bounds a scenario.
const MaxSites = 10_000

// maxScenario bounds a scenario file, in bytes.
const maxScenario = 16 << 20

// Scenario is a simulated grid: its sites, their traces, and who maps jobs.
//
//	version: 1
//	mapping: mct
//	sites:
//	  - {name: kth, trace: KTH-SP2-1996-2.swf.gz, procs: 100, policy: cbf}
//	  - {name: ctc, trace: CTC-SP2-1996-3.1-cln.swf.gz, procs: 338, speed: 1.2, policy: easy}
type Scenario struct {
	Version int        `yaml:"version"`
	Mapping string     `yaml:"mapping"` // none (default): a job stays at its trace's site; mct: the mapper decides
	Overrun string     `yaml:"overrun"` // kill (default), extend
	Tuning  string     `yaml:"tuning"`  // exhaustive (default), binary
	Align   *bool      `yaml:"align"`   // true (default): every trace's first submission is at instant 0
	Sites   []GridSite `yaml:"sites"`
	// Reallocation moves waiting jobs between the sites; nil: they stay where they
	// were mapped.
	Reallocation *Reallocation `yaml:"reallocation"`

	Places bool `yaml:"-"` // keep which processors each job had
}

// GridSite is one site of a scenario.
type GridSite struct {
	Name     string         `yaml:"name"`
	Trace    string         `yaml:"trace"` // SWF, gz too: a path from the scenario's folder, or a name among the traces; "" for none
	Procs    int64          `yaml:"procs"`
	Speed    string         `yaml:"speed"` // "1.0" by default
	Policy   string         `yaml:"policy"`
	Settings batch.Settings `yaml:"settings"`
	Local    bool           `yaml:"local"` // the jobs of its trace are those of local users, who do not ask the grid
}

// The mappings.
const (
	MappingNone = "none"
	MappingMCT  = "mct"
)

// ScenarioError is everything that is wrong with a scenario.
type ScenarioError struct {
	File     string
	Problems []error
}

// Error lists the problems, one a line.
func (e *ScenarioError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "scenario %s:", e.File)
	for _, p := range e.Problems {
		fmt.Fprintf(&s, "\n  %v", p)
	}
	return s.String()
}

// Unwrap returns the problems.
func (e *ScenarioError) Unwrap() []error { return e.Problems }

// ReadScenario reads a scenario from a file and validates it.
func ReadScenario(path string) (*Scenario, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	defer f.Close()
	return ParseScenario(f, path)
}

// ParseScenario reads a scenario; name is for errors. Unknown keys are errors.
func ParseScenario(r io.Reader, name string) (*Scenario, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxScenario+1))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	if len(text) > maxScenario {
		return nil, &ScenarioError{name, []error{fmt.Errorf("file: over %d bytes", maxScenario)}}
	}
	s := &Scenario{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return nil, &ScenarioError{name, []error{err}}
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, &ScenarioError{name, []error{errors.New("file: more than one YAML document, accepted: one")}}
	}
	if problems := s.Validate(); len(problems) > 0 {
		return nil, &ScenarioError{name, problems}
	}
	return s, nil
}

// Validate fills in defaults and returns everything that is wrong, each with
// its key.
func (s *Scenario) Validate() []error {
	var errs []error
	bad := func(key, format string, args ...any) { errs = append(errs, fmt.Errorf(key+": "+format, args...)) }
	if s.Version != 1 {
		bad("version", "%d, accepted: 1", s.Version)
	}
	if s.Mapping == "" {
		s.Mapping = MappingNone
	}
	if s.Mapping != MappingNone && s.Mapping != MappingMCT {
		bad("mapping", "%q, accepted: none, mct", s.Mapping)
	}
	if _, err := ParseOverrun(s.Overrun); err != nil {
		errs = append(errs, err)
	}
	if _, err := site.ParseTuning(s.Tuning); err != nil {
		errs = append(errs, err)
	}
	if s.Reallocation != nil {
		for _, err := range s.Reallocation.validate() {
			bad("reallocation", "%w", err)
		}
		if s.Mapping == MappingNone {
			bad("reallocation", "with mapping none, under which all jobs are local, accepted: with mapping mct")
		}
	}
	if s.Align == nil {
		yes := true
		s.Align = &yes
	}
	if len(s.Sites) == 0 || len(s.Sites) > MaxSites {
		bad("sites", "%d, accepted: 1..%d", len(s.Sites), MaxSites)
	}
	names := map[string]bool{}
	traces := 0
	for i := range s.Sites {
		g := &s.Sites[i]
		key := fmt.Sprintf("sites[%d].", i)
		if g.Name == "" || names[g.Name] {
			bad(key+"name", "%q, accepted: a name of its own for each site", g.Name)
		}
		names[g.Name] = true
		if g.Speed == "" {
			g.Speed = "1"
		}
		if _, err := catalogue.ParseSpeed(g.Speed); err != nil {
			bad(key+"speed", "%w", err)
		}
		if g.Procs < 1 || g.Procs > batch.MaxProcessors {
			bad(key+"procs", "%d, accepted: 1..%d", g.Procs, batch.MaxProcessors)
		} else if _, err := policies.New(g.Policy, batch.Processors(1), g.Settings); err != nil {
			bad(key+"policy", "%w", err)
		}
		if g.Trace != "" {
			traces++
		}
	}
	if traces == 0 && len(s.Sites) > 0 {
		bad("sites", "no site has a trace")
	}
	return errs
}

// beside returns a trace's path as it is found from a scenario's folder.
func beside(scenario, trace string) string {
	if filepath.IsAbs(trace) {
		return trace
	}
	return filepath.Join(filepath.Dir(scenario), trace)
}
