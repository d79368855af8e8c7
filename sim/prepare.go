package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Prepared is a scenario with its traces read and cut. Runs do not change it and can share it
// concurrently.
type Prepared struct {
	scenario Scenario
	jobs     []Job // in order of submission, before any draw
	total    Rejected
	rejected []Rejected // by site
}

// Variant is the part of a scenario that can differ between runs.
type Variant struct {
	// Seed is the seed of all draws: the types of moldable jobs, and which jobs are local.
	Seed uint64
	// Local is the share of the jobs that are drawn to be rigid local jobs of their
	// own site; 0 is a dedicated platform.
	Local Fraction
	// Homogeneous gives all sites speed 1.
	Homogeneous bool
	// Tuning is the name of a tuning; empty: the scenario's.
	Tuning string
	// Reallocation is nil for a reference, in which waiting jobs are not moved.
	Reallocation *Reallocation

	probe *tuningProbe // nil: tunings are not compared
}

// Variant returns the variant that the scenario describes.
func (s *Scenario) Variant() Variant {
	v := Variant{Seed: s.Seed, Reallocation: s.Reallocation}
	if s.Local != nil {
		v.Local, _ = ParseFraction(s.Local.Share) // validated
	}
	return v
}

// Prepare reads the traces of a validated scenario. file is the scenario's path; traces are
// searched beside it. The error can be a *swf.TraceNotFoundError.
func (s *Scenario) Prepare(ctx context.Context, file string) (*Prepared, error) {
	p := &Prepared{scenario: *s, rejected: make([]Rejected, len(s.Sites))}
	widest := s.widest()
	for i := range s.Sites {
		c := &s.Sites[i]
		trace, err := c.trace(ctx, file)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		if trace == nil {
			continue
		}
		shift, err := c.cut(trace, *s.Align)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		procs := c.Procs
		if s.Mapping == MappingMCT && !c.Local {
			procs = widest
		}
		part := FromTrace(trace, int32(procs))
		if *s.Align && c.From == "" && c.Length == "" && len(part.Jobs) > 0 {
			shift = part.Jobs[0].Submit // of the remaining jobs
		}
		for k := range part.Jobs {
			part.Jobs[k].Submit -= shift
			part.Jobs[k].Home = int32(i)
			part.Jobs[k].Local = c.Local
		}
		p.jobs = append(p.jobs, part.Jobs...)
		p.total.add(part.Rejected)
		p.rejected[i] = part.Rejected
	}
	slices.SortStableFunc(p.jobs, func(a, b Job) int {
		switch {
		case a.Submit < b.Submit:
			return -1
		case a.Submit > b.Submit:
			return 1
		}
		return 0
	})
	return p, nil
}

func (s *Scenario) widest() (procs int64) {
	for i := range s.Sites {
		procs = max(procs, s.Sites[i].Procs)
	}
	return procs
}

// trace reads or generates the jobs of a site; nil if the site has none.
func (g *GridSite) trace(ctx context.Context, file string) (*swf.Trace, error) {
	switch {
	case g.Lublin != nil:
		return g.Lublin.generate(ctx, g.Procs)
	case g.Trace != "":
		return openTrace(beside(file, g.Trace), g.Trace)
	}
	return nil, nil //nolint:nilnil // a missing trace is not an error
}

// cut keeps the jobs in the site's part of a trace. It returns the start of the part if the
// trace is to be aligned, else 0.
func (g *GridSite) cut(t *swf.Trace, align bool) (shift batch.Time, err error) {
	from, err1 := ParseLength(g.From)
	length, err2 := ParseLength(g.Length)
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	if len(t.Jobs) == 0 || g.From == "" && g.Length == "" {
		return 0, nil
	}
	begin := batch.Time(t.Jobs[0].Submit) * batch.Time(batch.Second)
	begin = begin.Add(from)
	at := func(limit batch.Time) int {
		return sort.Search(len(t.Jobs), func(k int) bool {
			return batch.Time(t.Jobs[k].Submit)*batch.Time(batch.Second) >= limit
		})
	}
	first, last := at(begin), len(t.Jobs)
	if g.Length != "" {
		last = at(begin.Add(length))
	}
	t.Jobs = t.Jobs[first:last]
	if !align {
		return 0, nil
	}
	return begin, nil
}

// Workload returns a copy of the jobs, before any draw.
func (p *Prepared) Workload() *Workload {
	return &Workload{Jobs: slices.Clone(p.jobs), Rejected: p.total}
}

// Run runs one experiment. It stops early only if ctx ends. Progress can be nil; it is called
// periodically with the number of submitted jobs and the total.
func (p *Prepared) Run(ctx context.Context, v Variant, progress func(done, total int)) (*Result, error) {
	s := p.scenario
	if s.Mapping == MappingNone && (!v.Local.IsZero() || v.Reallocation != nil) {
		return nil, errors.New("a share of local jobs, or reallocation, with mapping none, accepted: with mapping mct")
	}
	if !v.Local.valid() {
		return nil, fmt.Errorf("local share: %v, accepted: 0 to 1", v.Local)
	}
	s.Reallocation = v.Reallocation
	if v.Tuning != "" {
		s.Tuning = v.Tuning
	}
	if v.Homogeneous {
		s.Sites = slices.Clone(s.Sites)
		for i := range s.Sites {
			s.Sites[i].Speed = "1"
		}
	}
	w := p.Workload()
	total := len(w.Jobs)
	report := func(int) {}
	if progress != nil {
		report = func(done int) { progress(done, total) }
	}
	g, err := NewGrid(&s, report)
	if err != nil {
		return nil, err
	}
	if err := v.probe.join(g, &s); err != nil {
		return nil, err
	}
	draw(w.Jobs, v.Seed, g.types, v.Local, s.Sites)
	outcomes, err := g.Run(ctx, w)
	if err != nil {
		return nil, err
	}
	return p.result(&s, g, w, outcomes), nil
}

// result computes the figures of a run.
func (p *Prepared) result(s *Scenario, g *Grid, w *Workload, outcomes []Outcome) *Result {
	r := &Result{Summary: Summary{Schema: SummarySchema}, Workload: w, Outcomes: outcomes}
	var processors int64
	for i := range s.Sites {
		c := &s.Sites[i]
		processors += c.Procs
		figures := measure(w, outcomes, c.Procs, func(k int) bool { return outcomes[k].Site == int32(i) })
		figures.Rejected = p.rejected[i]
		r.Summary.Sites = append(r.Summary.Sites, SiteSummary{
			Name: c.Name, Policy: c.Policy, Processors: int32(c.Procs), Speed: c.Speed, Figures: figures,
			SelfTuning: selfTuning(g.sites[i].engine.Policy()),
		})
	}
	r.Summary.Figures = measure(w, outcomes, processors, nil)
	if len(s.Sites) == 1 {
		r.Summary.SelfTuning = r.Summary.Sites[0].SelfTuning
	}
	if slices.ContainsFunc(w.Jobs, func(j Job) bool { return j.Local }) {
		grid := measure(w, outcomes, processors, func(k int) bool { return !w.Jobs[k].Local })
		r.Summary.Grid = &grid
	}
	r.Summary.Reallocation = g.rounds.figures()
	return r
}
