package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// traceService is the service that all jobs of traces request and all simulated sites offer.
const traceService = "trace"

// Grid is a set of sites. With MCT every job goes through the agent's mapping core and the
// sites' own cores, which tune and quote it. Without MCT a job is queued at the site of its
// trace.
type Grid struct {
	mct      bool
	sites    []*gridSite
	widest   int32
	types    []moldableType // nil: all jobs are rigid
	input    int64          // bytes of each job
	links    *mapping.Links // nil: transfer times are unknown
	view     mapping.View
	rounds   *rounds      // nil: nothing is reallocated
	probe    *tuningProbe // nil: tunings are not compared
	progress func(submitted int)

	// Scratch of mapping.
	candidates []*mapping.Site
	answers    []mapping.Answer
	decision   mapping.Decision
}

// gridSite is one site: its core, and a policy driven by an engine.
type gridSite struct {
	index      int32
	name       string
	speed      catalogue.Speed
	overrun    Overrun
	ratio      bool // a job runs for the same fraction of its walltime at every site
	shared     bool // the policy lets jobs share processors
	core       *site.Site
	engine     *engine.Engine
	policy     batch.Policy
	forecaster forecast.Forecaster
	pending    bool // events since the last pass

	places *Places // nil: processors are not recorded

	run     *gridRun
	handles handles
	keys    []batch.Key // by handle; only jobs known to the core
	effects site.Effects
}

// NewGrid creates the sites of a validated scenario. Progress is called periodically with the
// number of submitted jobs if it is not nil.
func NewGrid(s *Scenario, progress func(submitted int)) (*Grid, error) {
	overrun, err := ParseOverrun(s.Overrun)
	if err != nil {
		return nil, err
	}
	tuning, err := site.ParseTuning(s.Tuning)
	if err != nil {
		return nil, err
	}
	types, wrongTypes := s.Moldable.parse()
	links, wrongLinks := s.Network.links(s.Sites)
	if err := errors.Join(append(wrongTypes, wrongLinks...)...); err != nil {
		return nil, err
	}
	g := &Grid{
		mct: s.Mapping == MappingMCT, widest: int32(s.widest()), types: types, input: int64(s.Input), links: links,
		progress: progress,
	}
	for i := range s.Sites {
		c := &s.Sites[i]
		speed, err := catalogue.ParseSpeed(c.Speed)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		platform := machine(c.Policy, int32(c.Procs))
		p, err := policy.New(c.Policy, platform, c.Settings)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		core, err := site.New(site.Config{Name: c.Name, Platform: platform, Speed: speed, Tuning: tuning})
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		gs := &gridSite{
			index: int32(i), name: c.Name, speed: speed, overrun: overrun, ratio: len(types) > 0, core: core, policy: p,
			shared: policy.Of(c.Policy).Shares,
		}
		gs.engine = engine.New(p, gs, nil)
		if s.Places {
			gs.places = NewPlaces(c.Policy, int32(c.Procs))
		}
		g.sites = append(g.sites, gs)
		g.view.Put(mapping.Site{Name: c.Name, Address: strconv.Itoa(i), Services: []string{traceService}})
	}
	if s.Reallocation != nil {
		config, errs := s.Reallocation.config()
		if len(errs) > 0 {
			return nil, fmt.Errorf("reallocation.%w", errors.Join(errs...))
		}
		g.rounds = newRounds(g, config)
	}
	return g, g.reserve(s.Reservations)
}

// Estimate implements site.Planner.
func (s *gridSite) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	return s.forecaster.Estimate(now, s.policy, asks, out)
}

// gridRun is one run of a grid.
type gridRun struct {
	jobs     []Job
	outcomes []Outcome
	refused  []int          // jobs that no site could run
	handles  []batch.Handle // by job, at the site where it is; nil without reallocation
	menus    menus
}

// Run replays a workload and returns the outcome of each job. Jobs that no site can run are
// removed from w and counted in it. It stops early only if ctx ends. The error can be a
// *HorizonError.
func (g *Grid) Run(ctx context.Context, w *Workload) ([]Outcome, error) {
	r := &gridRun{jobs: w.Jobs, outcomes: make([]Outcome, len(w.Jobs)), menus: newMenus(g, len(w.Jobs))}
	g.rounds.begin(r)
	for _, s := range g.sites {
		s.run = r
	}
	for next := 0; ; {
		now := batch.Never
		for _, s := range g.sites {
			now = min(now, s.engine.Next())
		}
		if next < len(w.Jobs) {
			now = min(now, w.Jobs[next].Submit)
		}
		if now == batch.Never {
			break
		}
		now = g.rounds.due(now)
		for _, s := range g.sites {
			if s.engine.Next() <= now {
				s.engine.Advance(now)
				s.pending = true
			}
		}
		for ; next < len(w.Jobs) && w.Jobs[next].Submit == now; next++ {
			if next%progressEvery == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if g.progress != nil {
					g.progress(next)
				}
			}
			if err := g.submit(now, r, next); err != nil {
				return nil, err
			}
		}
		for _, s := range g.sites {
			s.settle()
		}
		if err := g.rounds.run(ctx, now); err != nil {
			return nil, err
		}
	}
	outcomes := r.drop(w)
	return outcomes, unended(w, outcomes)
}

// drop removes the refused jobs from the workload and the outcomes.
func (r *gridRun) drop(w *Workload) []Outcome {
	if len(r.refused) == 0 {
		return r.outcomes
	}
	w.Rejected.TooWide += len(r.refused)
	kept := 0
	for i := range r.outcomes {
		if _, refused := slices.BinarySearch(r.refused, i); !refused {
			w.Jobs[kept], r.outcomes[kept] = w.Jobs[i], r.outcomes[i]
			kept++
		}
	}
	w.Jobs = w.Jobs[:kept]
	return r.outcomes[:kept]
}

// settle makes the scheduling pass that is due, if there is one.
func (s *gridSite) settle() {
	if s.pending {
		s.pending = false
		s.engine.Pass()
	}
}
