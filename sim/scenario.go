package sim

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/internal/config"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// MaxSites bounds the sites of a scenario.
const MaxSites = 10_000

// MaxScenario bounds a scenario file, in bytes.
const MaxScenario = 16 << 20

// Scenario is a simulated grid: its sites, their jobs, and the mapping.
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
	// Seed is the seed of all draws: the types of moldable jobs, and which jobs are local.
	Seed     uint64      `yaml:"seed"`
	Moldable *Moldable   `yaml:"moldable"` // nil: all jobs are rigid
	Local    *LocalUsers `yaml:"local"`    // nil: all jobs are grid jobs, except those of local sites
	Input    config.Size `yaml:"input"`    // of each job, in bytes
	Network  *Network    `yaml:"network"`  // nil: transfer times are unknown
	// Reallocation moves waiting jobs between the sites; nil: jobs stay where they were
	// mapped.
	Reallocation *Reallocation `yaml:"reallocation"`
	Reservations []Reservation `yaml:"reservations"`

	Places bool `yaml:"-"` // record the processors of each job
}

// The mappings.
const (
	MappingNone = "none"
	MappingMCT  = "mct"
)

// ScenarioError holds all problems of a scenario.
type ScenarioError struct {
	File     string
	Problems []error
}

// Error lists the problems, one per line.
func (e *ScenarioError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "scenario %s:", e.File)
	for _, p := range e.Problems {
		s.WriteString("\n  " + strings.ReplaceAll(p.Error(), "\n", "\n  "))
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

// ParseScenario parses a scenario; name is for errors. Unknown keys are errors.
func ParseScenario(r io.Reader, name string) (*Scenario, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxScenario+1))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	if len(text) > MaxScenario {
		return nil, &ScenarioError{name, []error{fmt.Errorf("file: over %d bytes", MaxScenario)}}
	}
	s := &Scenario{}
	file, err := config.Read(text, s)
	if err == nil {
		err = file.Check(nil)
	}
	if err != nil {
		return nil, &ScenarioError{name, []error{err}}
	}
	if problems := s.Validate(); len(problems) > 0 {
		return nil, &ScenarioError{name, problems}
	}
	return s, nil
}

// Validate fills in defaults and returns all problems, each with its key.
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
			errs = append(errs, fmt.Errorf("reallocation.%w", err))
		}
	}
	_, wrong := s.Moldable.parse()
	errs = append(errs, wrong...)
	_, wrong = s.Network.links(s.Sites)
	errs = append(errs, wrong...)
	if s.Local != nil {
		if _, err := ParseFraction(s.Local.Share); err != nil {
			bad("local.share", "%w", err)
		}
	}
	for _, c := range []struct {
		key   string
		given bool
	}{
		{"reallocation", s.Reallocation != nil},
		{"moldable", s.Moldable != nil},
		{"local", s.Local != nil},
		{"network", s.Network != nil},
	} {
		if c.given && s.Mapping == MappingNone {
			bad(c.key, "with mapping none, under which all jobs are local and rigid, accepted: with mapping mct")
		}
	}
	if s.Align == nil {
		yes := true
		s.Align = &yes
	}
	if len(s.Sites) == 0 || len(s.Sites) > MaxSites {
		bad("sites", "%d, accepted: 1..%d", len(s.Sites), MaxSites)
	}
	return append(append(errs, s.validateSites()...), s.validateReservations()...)
}

// Network is the speed of input transfers between sites. A job's input is at the site of its
// trace.
type Network struct {
	Bandwidth config.Rate `yaml:"bandwidth"` // such as 125MB/s; 0: unlimited
	Latency   string      `yaml:"latency"`
	Links     []Link      `yaml:"links"` // exceptions from the two above
}

// Link is the connection from one site to another.
type Link struct {
	From      string      `yaml:"from"`
	To        string      `yaml:"to"`
	Bandwidth config.Rate `yaml:"bandwidth"`
	Latency   string      `yaml:"latency"`
}

// links returns the network for the mapper, or all problems.
func (n *Network) links(sites []GridSite) (*mapping.Links, []error) {
	if n == nil {
		return nil, nil
	}
	var errs []error
	known := map[string]bool{}
	for i := range sites {
		known[sites[i].Name] = true
	}
	read := func(key string, bandwidth config.Rate, latency string) mapping.Link {
		d, err := ParseLength(latency)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s.latency: %w", key, err))
		}
		return mapping.Link{Bandwidth: int64(bandwidth), Latency: d}
	}
	out := &mapping.Links{Default: read("network", n.Bandwidth, n.Latency), Pairs: map[mapping.Pair]mapping.Link{}}
	for i := range n.Links {
		l := &n.Links[i]
		key := fmt.Sprintf("network.links[%d]", i)
		pair := mapping.Pair{From: l.From, To: l.To}
		_, twice := out.Pairs[pair]
		if !known[l.From] || !known[l.To] || l.From == l.To || twice {
			errs = append(errs, fmt.Errorf("%s: from %q to %q, accepted: two sites of the scenario, each pair once",
				key,
				l.From, l.To))
		}
		out.Pairs[pair] = read(key, l.Bandwidth, l.Latency)
	}
	return out, errs
}
