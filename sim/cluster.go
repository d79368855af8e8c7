package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/nodes"
)

// Cluster is one machine under one policy.
type Cluster struct {
	Policy  batch.Policy
	Overrun Overrun
	// PassEachEvent makes a pass after every event; see Single.
	PassEachEvent bool
	Penalty       batch.Duration // see Single
	// Shared: the policy lets jobs share processors.
	Shared bool
	// Places records the processors of each job if it is not nil. Recording costs time.
	Places *Places
	// Progress is called periodically with the number of submitted jobs if it is not nil.
	Progress func(submitted int)
}

// progressEvery is the number of submissions between two progress reports.
const progressEvery = 1000

// Run replays a workload and returns the outcome of each job. The policy must
// be new. Run stops early only if ctx ends. The error can be a *HorizonError.
func (c *Cluster) Run(ctx context.Context, w *Workload) ([]Outcome, error) {
	r := &clusterRun{cluster: c, jobs: w.Jobs, outcomes: make([]Outcome, len(w.Jobs))}
	if _, ok := c.Policy.(learner); ok {
		r.names = &Names{}
	}
	e := engine.New(c.Policy, r, nil)
	e.PassEachEvent, e.Penalty = c.PassEachEvent, c.Penalty
	for next := 0; ; {
		now := e.Next()
		if next < len(w.Jobs) {
			now = min(now, w.Jobs[next].Submit)
		}
		if now == batch.Never {
			return r.outcomes, unended(w, r.outcomes)
		}
		e.Advance(now)
		for ; next < len(w.Jobs) && w.Jobs[next].Submit == now; next++ {
			if next%progressEvery == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if c.Progress != nil {
					c.Progress(next)
				}
			}
			r.submit(e, int32(next))
		}
		e.Pass()
	}
}

// clusterRun is one run of a cluster.
type clusterRun struct {
	cluster  *Cluster
	jobs     []Job
	outcomes []Outcome
	handles  handles
	names    *Names // nil: the policy does not look at users
}

// learner is a policy that learns from the runtimes of users' jobs.
type learner interface {
	Learn(owner, application string, estimate, runtime batch.Duration)
}

func (r *clusterRun) submit(e *engine.Engine, i int32) {
	j := &r.jobs[i]
	spec := r.handles.take(i)
	spec.Shape = batch.Shape{Width: j.Width, Walltime: j.Walltime}
	if r.names != nil {
		spec.Owner, spec.Name = r.names.Of(j)
	}
	work, killed := r.cluster.Overrun.work(j.Runtime, j.Walltime)
	r.outcomes[i] = Outcome{Start: batch.Never, End: batch.Never, Width: j.Width, Walltime: j.Walltime, Killed: killed}
	if r.cluster.Shared {
		r.outcomes[i].Work = work
	}
	e.Submit(spec, work)
}

// Started implements engine.Observer.
func (r *clusterRun) Started(now batch.Time, job *batch.Job, places []batch.NodeAllocation) {
	i := r.handles.index[job.Handle]
	r.outcomes[i].Start = now
	if r.cluster.Places != nil {
		r.outcomes[i].Processors = r.cluster.Places.start(job, places)
	}
}

// Ended implements engine.Observer.
func (r *clusterRun) Ended(now batch.Time, job *batch.Job, killed bool) {
	i := r.handles.index[job.Handle]
	r.outcomes[i].End = now
	r.outcomes[i].Killed = r.outcomes[i].Killed || killed
	if r.cluster.Places != nil {
		r.cluster.Places.end(job)
	}
	r.handles.release(job.Handle)
}

// Places records which processors of a machine each job has. For a policy that only counts
// processors it allocates the free ones with the lowest numbers. Under a policy that shares
// processors or pauses jobs it only reports the nodes on which a job starts.
type Places struct {
	free *nodes.Allocator         // nil: shared
	held [][]batch.NodeAllocation // by handle
}

// NewPlaces returns the record of an idle machine of procs processors under a policy.
func NewPlaces(policy string, procs int32) *Places {
	if choosesNodes(policy) {
		return &Places{}
	}
	return &Places{free: nodes.New(batch.Processors(procs))}
}

// start books a job's processors and returns them as intervals.
func (p *Places) start(job *batch.Job, places []batch.NodeAllocation) string {
	if p.free == nil {
		return intervals(places)
	}
	for int(job.Handle) >= len(p.held) {
		p.held = append(p.held, nil)
	}
	if places == nil {
		places = p.free.Pick(job.Shape.Width)
	} else {
		places = slices.Clone(places)
		if !p.free.Take(places) {
			panic(fmt.Sprintf("sim: job %d is to run where processors are not free: %v", job.Handle, places))
		}
	}
	p.held[job.Handle] = places
	return intervals(places)
}

func (p *Places) end(job *batch.Job) {
	if p.free != nil {
		p.free.Release(p.held[job.Handle])
	}
}

// intervals formats processors as Batsim does: "0-3 7".
func intervals(places []batch.NodeAllocation) string {
	var s strings.Builder
	for i := 0; i < len(places); {
		first := places[i].Node
		last := first
		for i++; i < len(places) && places[i].Node == last+1; i++ {
			last++
		}
		if s.Len() > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(strconv.Itoa(int(first)))
		if last > first {
			s.WriteByte('-')
			s.WriteString(strconv.Itoa(int(last)))
		}
	}
	return s.String()
}
