package sim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policies"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Single is a run of one policy on one machine with one trace.
type Single struct {
	Trace    string // path of an SWF file, gz too, or the name of one among the traces
	Procs    int64
	Policy   string
	Settings batch.Settings
	Overrun  Overrun
	// PassEachEvent makes a scheduling pass after every single event instead of
	// one for all events of an instant, as some simulators do. It is for
	// comparing with them, and for policies that do not plan.
	PassEachEvent bool
	Places        bool // keep which processors each job had
	Progress      func(done, total int)
}

// Validate reports everything that is wrong, each with its flag.
func (s *Single) Validate() error {
	var errs []error
	if s.Procs < 1 || s.Procs > batch.MaxProcessors {
		errs = append(errs, fmt.Errorf("procs: %d, accepted: 1..%d", s.Procs, batch.MaxProcessors))
	} else if _, err := policies.New(s.Policy, batch.Processors(1), s.Settings); err != nil {
		errs = append(errs, err)
	}
	if s.PassEachEvent && s.Policy != "easy" && s.Policy != "fcfs" {
		errs = append(errs, fmt.Errorf("passes: event with policy %s, accepted: event with fcfs and easy, which do not plan", s.Policy))
	}
	return errors.Join(errs...)
}

// Run reads the trace and replays it.
func (s *Single) Run(ctx context.Context) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	trace, err := openTrace(s.Trace, s.Trace)
	if err != nil {
		return nil, err
	}
	procs := int32(s.Procs)
	w := FromTrace(trace, procs)
	policy, err := policies.New(s.Policy, machine(procs), s.Settings)
	if err != nil {
		return nil, err
	}
	c := Cluster{Policy: policy, Overrun: s.Overrun, PassEachEvent: s.PassEachEvent}
	if s.Progress != nil {
		c.Progress = func(done int) { s.Progress(done, len(w.Jobs)) }
	}
	if s.Places {
		c.Places = NewPlaces(procs)
	}
	outcomes, err := c.Run(ctx, w)
	if err != nil {
		return nil, err
	}
	figures := measure(w, outcomes, s.Procs, nil)
	return &Result{
		Summary: Summary{
			Schema: SummarySchema, Figures: figures,
			Sites: []SiteSummary{{Name: "site", Policy: s.Policy, Processors: procs, Speed: "1", Figures: figures}},
		},
		Workload: w, Outcomes: outcomes,
	}, nil
}

// Run reads the traces of a scenario, found from the folder of its file, and
// replays them. Progress may be nil.
func (s *Scenario) Run(ctx context.Context, file string, progress func(done, total int)) (*Result, error) {
	w, rejected, err := s.workload(file)
	if err != nil {
		return nil, err
	}
	total := len(w.Jobs)
	report := func(int) {}
	if progress != nil {
		report = func(done int) { progress(done, total) }
	}
	g, err := NewGrid(s, report)
	if err != nil {
		return nil, err
	}
	outcomes, err := g.Run(ctx, w)
	if err != nil {
		return nil, err
	}
	r := &Result{Summary: Summary{Schema: SummarySchema}, Workload: w, Outcomes: outcomes}
	var processors int64
	for i := range s.Sites {
		c := &s.Sites[i]
		processors += c.Procs
		figures := measure(w, outcomes, c.Procs, func(k int) bool { return outcomes[k].Site == int32(i) })
		figures.Rejected = rejected[i]
		r.Summary.Sites = append(r.Summary.Sites, SiteSummary{
			Name: c.Name, Policy: c.Policy, Processors: int32(c.Procs), Speed: c.Speed, Figures: figures,
		})
	}
	r.Summary.Figures = measure(w, outcomes, processors, nil)
	r.Summary.Reallocation = g.rounds.figures()
	return r, nil
}

// workload merges the traces of a scenario's sites, and returns what was left
// out of each.
func (s *Scenario) workload(file string) (*Workload, []Rejected, error) {
	widest := int64(0)
	for i := range s.Sites {
		widest = max(widest, s.Sites[i].Procs)
	}
	w := &Workload{}
	rejected := make([]Rejected, len(s.Sites))
	for i := range s.Sites {
		c := &s.Sites[i]
		if c.Trace == "" {
			continue
		}
		trace, err := openTrace(beside(file, c.Trace), c.Trace)
		if err != nil {
			return nil, nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		procs := c.Procs
		if s.Mapping == MappingMCT && !c.Local {
			procs = widest
		}
		part := FromTrace(trace, int32(procs))
		var shift batch.Time
		if *s.Align && len(part.Jobs) > 0 {
			shift = part.Jobs[0].Submit
		}
		for k := range part.Jobs {
			part.Jobs[k].Submit -= shift
			part.Jobs[k].Home = int32(i)
			part.Jobs[k].Local = c.Local
		}
		w.Jobs = append(w.Jobs, part.Jobs...)
		w.Rejected.add(part.Rejected)
		rejected[i] = part.Rejected
	}
	slices.SortStableFunc(w.Jobs, func(a, b Job) int {
		switch {
		case a.Submit < b.Submit:
			return -1
		case a.Submit > b.Submit:
			return 1
		}
		return 0
	})
	return w, rejected, nil
}

// openTrace reads a trace from a path or, if there is no such file and the name
// has no folder, from the folder of traces under its name.
func openTrace(path, name string) (*swf.Trace, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == name {
		found, err := swf.FindTrace(name)
		if missing, ok := errors.AsType[*swf.TraceNotFoundError](err); ok {
			missing.Looked = slices.Insert(missing.Looked, 0, path)
		}
		if err != nil {
			return nil, err
		}
		path = found
	}
	return swf.ReadFile(path)
}

// machine is a machine of so many processors to policies that only count them:
// one node, because a node for each would be most of what a large machine costs.
func machine(procs int32) batch.Platform {
	return batch.Platform{Nodes: []batch.Node{{Processors: procs}}}
}
