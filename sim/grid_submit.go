package sim

import (
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// submit maps job i to a site, or queues it at the site of its trace.
func (g *Grid) submit(now batch.Time, r *gridRun, i int) error {
	j := &r.jobs[i]
	if !g.mct || j.Local {
		s := g.sites[j.Home]
		s.enqueue(now, i, batch.Shape{Width: j.Width, Walltime: s.speed.Scale(j.Walltime).CeilSeconds()}, batch.Key{},
			0)
		return nil
	}
	request := &site.Request{Service: traceService, Menu: r.menus.take(i, j)}
	s, transfer := g.choose(now, j, request)
	if s == nil {
		r.menus.release(int32(i))
		r.refused = append(r.refused, i)
		return nil
	}
	if transfer > 0 {
		request.EarliestStart = now.Add(transfer)
	}
	if err := g.probe.ask(now, s, request); err != nil {
		return err
	}
	if err := s.accept(now, i, request); err != nil {
		return err
	}
	g.rounds.note(i, request)
	return nil
}

// accept makes the site tune job i again and accept it, and queues it.
func (s *gridSite) accept(now batch.Time, i int, request *site.Request) error {
	id := batch.JobID(strconv.Itoa(i))
	accepted, err := s.core.Submit(now, site.Submission{ID: id, Request: request}, s)
	if err != nil {
		return fmt.Errorf("site %s took back its quote for job %s: %w", s.name, id, err)
	}
	s.enqueue(now, i, accepted.Shape, accepted.Key(), request.EarliestStart)
	s.core.Take(now, &s.effects) // the engine gets the job directly
	return nil
}

// choose asks all sites for a quote. It returns the site that the mapper chooses, nil if no
// site can run the request, and the transfer time of the job's input. A site with events at
// this instant makes its scheduling pass first, so that its plan is up to date.
func (g *Grid) choose(now batch.Time, j *Job, request *site.Request) (*gridSite, batch.Duration) {
	g.candidates = g.view.Candidates(g.candidates[:0], traceService)
	g.answers = g.answers[:0]
	for _, c := range g.candidates {
		i, _ := strconv.Atoi(c.Address)
		s := g.sites[i]
		s.settle()
		answer := mapping.Answer{Site: s.name, At: now}
		question := site.Question{Request: request}
		if g.links != nil {
			answer.Transfer = g.links.Transfer(g.sites[j.Home].name, s.name, g.input)
			question.From = now.Add(answer.Transfer)
		}
		quote, err := s.core.Quote(now, question, s)
		if err != nil {
			answer.Missing = mapping.Refused
		} else {
			answer.Wait, answer.Run, answer.Width, answer.Walltime = quote.Wait, quote.Run, quote.Shape.Width,
				quote.Shape.Walltime
			answer.Kind, answer.P = quote.Kind, quote.P
		}
		g.answers = append(g.answers, answer)
	}
	mapping.Choose(now, g.answers, &g.decision)
	best, ok := g.decision.Chosen()
	if !ok {
		return nil, 0
	}
	i, _ := strconv.Atoi(g.candidates[best.Answer].Address)
	return g.sites[i], best.Transfer
}

// enqueue hands job i of the run to the policy, with its earliest start. The key is empty
// for a job that the core does not know.
func (s *gridSite) enqueue(now batch.Time, i int, shape batch.Shape, key batch.Key, earliest batch.Time) {
	spec := s.handles.take(int32(i))
	spec.Shape, spec.EarliestStart = shape, earliest
	for int(spec.Handle) >= len(s.keys) {
		s.keys = append(s.keys, batch.Key{})
	}
	s.keys[spec.Handle] = key
	work, killed := s.overrun.work(s.runtime(&s.run.jobs[i], shape.Walltime), shape.Walltime)
	s.run.outcomes[i] = Outcome{
		Start: batch.Never, End: batch.Never, Width: shape.Width, Walltime: shape.Walltime, Site: s.index,
		Killed: killed,
	}
	if s.shared {
		s.run.outcomes[i].Work = work
	}
	if s.run.handles != nil {
		s.run.handles[i] = spec.Handle
	}
	s.engine.Advance(now)
	s.engine.Submit(spec, work)
	s.pending = true
}

// runtime returns how long a job runs at this site, given its walltime there.
func (s *gridSite) runtime(j *Job, walltime batch.Duration) batch.Duration {
	if s.ratio {
		return ratio(j.Runtime, j.Walltime, walltime)
	}
	return s.speed.Scale(j.Runtime)
}

// Started implements engine.Observer.
func (s *gridSite) Started(now batch.Time, job *batch.Job, places []batch.NodeAllocation) {
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
	i := s.handles.index[job.Handle]
	o := &s.run.outcomes[i]
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
		s.run.menus.release(i)
	}
	s.handles.release(job.Handle)
}

// must panics if the site's core contradicts its batch system: both are in this process, so
// that is a bug.
func must(_ site.Job, err error) {
	if err != nil {
		panic(err)
	}
}

// handles gives handles to jobs and reuses them, so that a policy and its engine need only
// as many as there are jobs in the system at once. A handle keeps its batch.Job.
type handles struct {
	specs  []*batch.Job // by handle
	index  []int32      // of the workload's job that has the handle
	unused []batch.Handle
}

// take returns a job with a handle that is not in use, for the workload's job i.
// Its other fields are those of the last job that had the handle.
func (h *handles) take(i int32) *batch.Job {
	if n := len(h.unused); n > 0 {
		handle := h.unused[n-1]
		h.unused = h.unused[:n-1]
		h.index[handle] = i
		return h.specs[handle]
	}
	if len(h.specs) == 0 { // batch.NoJob names no job
		h.specs, h.index = append(h.specs, nil), append(h.index, -1)
	}
	spec := &batch.Job{Handle: batch.Handle(len(h.specs))}
	h.specs, h.index = append(h.specs, spec), append(h.index, i)
	return spec
}

func (h *handles) release(handle batch.Handle) { h.unused = append(h.unused, handle) }
