package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policies"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
	"github.com/seed-9b8f70bb/drover/sim/engine"
)

// traceService is the name of the service that all jobs of traces ask for, and
// all simulated sites offer.
const traceService = "trace"

// Grid is a number of sites. With MCT every job goes through the agent's
// mapping core and the sites' own cores, which tune and quote it; without, it is
// queued at the site whose trace it comes from.
type Grid struct {
	mct      bool
	sites    []*gridSite
	view     mapping.View
	rounds   *rounds // nil: nothing is reallocated
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
	core       *site.Site
	engine     *engine.Engine
	policy     batch.Policy
	forecaster forecast.Forecaster
	pending    bool // something has happened since the last pass

	places *Places // nil: nobody wants to know

	run     *gridRun
	handles handles
	keys    []batch.Key // by handle; of the jobs that the core knows
	effects site.Effects
}

// NewGrid makes the sites of a scenario that has been validated. Progress is
// called now and then with the number of jobs submitted, if it is not nil.
func NewGrid(s *Scenario, progress func(submitted int)) (*Grid, error) {
	overrun, err := ParseOverrun(s.Overrun)
	if err != nil {
		return nil, err
	}
	tuning, err := site.ParseTuning(s.Tuning)
	if err != nil {
		return nil, err
	}
	g := &Grid{mct: s.Mapping == MappingMCT, progress: progress}
	for i := range s.Sites {
		c := &s.Sites[i]
		speed, err := catalogue.ParseSpeed(c.Speed)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		platform := machine(int32(c.Procs))
		policy, err := policies.New(c.Policy, platform, c.Settings)
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		core, err := site.New(site.Config{Name: c.Name, Platform: platform, Speed: speed, Tuning: tuning})
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", c.Name, err)
		}
		gs := &gridSite{index: int32(i), name: c.Name, speed: speed, overrun: overrun, core: core, policy: policy}
		gs.engine = engine.New(policy, gs, nil)
		if s.Places {
			gs.places = NewPlaces(int32(c.Procs))
		}
		g.sites = append(g.sites, gs)
		g.view.Put(mapping.Site{Name: c.Name, Address: strconv.Itoa(i), Services: []string{traceService}})
	}
	if s.Reallocation != nil {
		config, errs := s.Reallocation.config()
		if len(errs) > 0 {
			return nil, fmt.Errorf("reallocation: %w", errors.Join(errs...))
		}
		g.rounds = newRounds(g, config)
	}
	return g, nil
}

// Estimate implements site.Planner: the policy plans, or is forecast.
func (s *gridSite) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	return s.forecaster.Estimate(now, s.policy, asks, out)
}

// gridRun is one run of a grid.
type gridRun struct {
	jobs     []Job
	outcomes []Outcome
	refused  []int          // jobs that no site could take
	handles  []batch.Handle // by job, at the site where it is; nil if nobody moves jobs
}

// Run replays a workload and returns the outcome of each job; jobs that no site
// can take are dropped from w and counted in it. It ends early only if ctx does. The error may be a *HorizonError.
func (g *Grid) Run(ctx context.Context, w *Workload) ([]Outcome, error) {
	r := &gridRun{jobs: w.Jobs, outcomes: make([]Outcome, len(w.Jobs))}
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

// drop takes the refused jobs out of the workload and the outcomes.
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

// submit sends job i on its way.
func (g *Grid) submit(now batch.Time, r *gridRun, i int) error {
	j := &r.jobs[i]
	if !g.mct || j.Local {
		s := g.sites[j.Home]
		s.enqueue(now, i, batch.Shape{Width: j.Width, Walltime: s.speed.Scale(j.Walltime).CeilSeconds()}, batch.Key{})
		return nil
	}
	request := &site.Request{Service: traceService, Menu: []batch.Shape{{Width: j.Width, Walltime: j.Walltime}}}
	s := g.choose(now, request)
	if s == nil {
		r.refused = append(r.refused, i)
		return nil
	}
	id := batch.JobID(strconv.Itoa(i))
	accepted, err := s.core.Submit(now, site.Submission{ID: id, Request: request}, s)
	if err != nil {
		return fmt.Errorf("site %s took back its quote for job %s: %w", s.name, id, err)
	}
	s.enqueue(now, i, accepted.Shape, accepted.Key())
	s.core.Take(now, &s.effects) // the engine takes the job as it is
	g.rounds.note(i, request)
	return nil
}

// choose asks all sites for a quote and returns the one the mapper takes, nil if
// none can run the request. A site where something has happened at this instant
// makes a pass first: it plans with what is true now.
func (g *Grid) choose(now batch.Time, request *site.Request) *gridSite {
	g.candidates = g.view.Candidates(g.candidates[:0], traceService)
	g.answers = g.answers[:0]
	for _, c := range g.candidates {
		i, _ := strconv.Atoi(c.Address)
		s := g.sites[i]
		s.settle()
		answer := mapping.Answer{Site: s.name, At: now}
		quote, err := s.core.Quote(now, site.Question{Request: request}, s)
		if err != nil {
			answer.Missing = mapping.Refused
		} else {
			answer.Wait, answer.Run, answer.Width, answer.Walltime = quote.Wait, quote.Run, quote.Shape.Width, quote.Shape.Walltime
			answer.Kind, answer.P = quote.Kind, quote.P
		}
		g.answers = append(g.answers, answer)
	}
	mapping.Choose(now, g.answers, &g.decision)
	best, ok := g.decision.Chosen()
	if !ok {
		return nil
	}
	i, _ := strconv.Atoi(g.candidates[best.Answer].Address)
	return g.sites[i]
}

// settle makes the pass that is due, if one is.
func (s *gridSite) settle() {
	if s.pending {
		s.pending = false
		s.engine.Pass()
	}
}

// enqueue hands job i of the run to the policy. Key is that of a job the core
// knows, or empty.
func (s *gridSite) enqueue(now batch.Time, i int, shape batch.Shape, key batch.Key) {
	spec := s.handles.take(int32(i))
	spec.Shape = shape
	for int(spec.Handle) >= len(s.keys) {
		s.keys = append(s.keys, batch.Key{})
	}
	s.keys[spec.Handle] = key
	work, killed := s.overrun.work(s.speed.Scale(s.run.jobs[i].Runtime), shape.Walltime)
	s.run.outcomes[i] = Outcome{
		Start: batch.Never, End: batch.Never, Width: shape.Width, Walltime: shape.Walltime, Site: s.index, Killed: killed,
	}
	if s.run.handles != nil {
		s.run.handles[i] = spec.Handle
	}
	s.engine.Advance(now)
	s.engine.Submit(spec, work)
	s.pending = true
}

// Started implements engine.Observer.
func (s *gridSite) Started(now batch.Time, job *batch.Job, places []batch.Location) {
	o := &s.run.outcomes[s.handles.index[job.Handle]]
	o.Start = now
	if s.places != nil {
		o.Processors = s.places.start(job, places)
	}
	if key := s.keys[job.Handle]; key.Job != "" {
		must(s.core.Running(now, key, nil, nil))
	}
}

// Ended implements engine.Observer.
func (s *gridSite) Ended(now batch.Time, job *batch.Job, killed bool) {
	o := &s.run.outcomes[s.handles.index[job.Handle]]
	o.End = now
	o.Killed = o.Killed || killed
	if s.places != nil {
		s.places.end(job)
	}
	if key := s.keys[job.Handle]; key.Job != "" {
		outcome := batch.Outcome{End: batch.EndDone}
		if o.Killed {
			outcome.End = batch.EndKilled
		}
		must(s.core.Ended(now, key, outcome, nil))
		if err := s.core.Forget(key.Job); err != nil {
			panic(err)
		}
		s.core.Take(now, &s.effects)
	}
	s.handles.release(job.Handle)
}

// must panics if the site's core does not follow its batch system: both are in
// this process, so that is a bug.
func must(_ site.Job, err error) {
	if err != nil {
		panic(err)
	}
}
