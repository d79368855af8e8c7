package site

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
)

// cluster drives a site and its policy in virtual time, as the simulator does.
type cluster struct {
	site    *Site
	policy  batch.Policy
	jobs    []Job        // by handle - 1
	ends    []batch.Time // by handle - 1; Never while waiting and after the end
	runtime []batch.Duration
	out     batch.Decisions
}

// planningPolicy makes a planning policy a Planner.
type planningPolicy struct{ batch.Policy }

func (p planningPolicy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	return p.Policy.Estimate(now, asks, out) == nil
}

func (c *cluster) submit(t *rapid.T, now batch.Time, r *Request, runtime batch.Duration) {
	j, err := c.site.Submit(now, Submission{ID: batch.JobID(fmt.Sprint(len(c.jobs))), Request: r},
		planningPolicy{c.policy})
	if err != nil {
		t.Fatal(err)
	}
	spec := take(c.site, now).Plans[0].Job
	spec.Handle = batch.Handle(len(c.jobs) + 1)
	c.jobs, c.ends, c.runtime = append(c.jobs, j), append(c.ends, batch.Never),
		append(c.runtime, min(runtime, spec.Shape.Walltime))
	c.policy.Apply(now, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
	c.pass(t, now)
}

func (c *cluster) pass(t *rapid.T, now batch.Time) {
	c.out.Reset()
	c.policy.Decide(now, &c.out)
	for _, d := range c.out.List {
		i := int(d.Job) - 1
		j, err := c.site.Running(now, c.jobs[i].Key(), nil, nil)
		if err != nil || d.Kind != batch.Start {
			t.Fatalf("%v of job %d: %v", d.Kind, d.Job, err)
		}
		c.jobs[i] = j
		c.ends[i] = now.Add(c.runtime[i])
	}
}

// until processes the ends of jobs up to and including an instant.
func (c *cluster) until(t *rapid.T, limit batch.Time) {
	for {
		next := limit
		for _, e := range c.ends {
			next = min(next, e)
		}
		some := false
		for i, e := range c.ends {
			if e != next || e == batch.Never {
				continue
			}
			some = true
			c.ends[i] = batch.Never
			j, err := c.site.Ended(next, c.jobs[i].Key(), batch.Outcome{End: batch.EndDone}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.jobs[i] = j
			c.policy.Apply(next, &batch.Event{Kind: batch.Finish, Job: batch.Handle(i + 1)})
		}
		if !some {
			return
		}
		c.pass(t, next)
	}
}

// TestAPromiseGivenAtSubmissionIsKept runs moldable jobs through a site in front
// of a CBF cluster.
func TestAPromiseGivenAtSubmissionIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const processors = 6
		policy, err := cbf.New(batch.Processors(processors), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Config{
			Platform: batch.Processors(processors), Tuning: rapid.SampledFrom([]Tuning{Exhaustive, Binary}).Draw(t,
				"tuning"),
		})
		if err != nil {
			t.Fatal(err)
		}
		c := &cluster{site: s, policy: policy}
		now := batch.Time(0)
		for range rapid.IntRange(1, 15).Draw(t, "jobs") {
			now = now.Add(seconds(rapid.Int64Range(0, 10).Draw(t, "pause")))
			c.until(t, now)
			r := &Request{}
			for w := rapid.Int64Range(1, processors).Draw(t, "width"); w <= processors; w += 2 {
				r.Menu = append(r.Menu, menu(w, rapid.Int64Range(1, 20).Draw(t, "walltime"))...)
			}
			quote, err := s.Quote(now, Question{Request: r}, planningPolicy{policy})
			if err != nil {
				t.Fatal(err)
			}
			c.submit(t, now, r, seconds(rapid.Int64Range(1, 20).Draw(t, "runtime")))
			if got := c.jobs[len(c.jobs)-1].Estimate; got != quote || got.Kind != batch.Promised {
				t.Fatalf("quoted %+v, got %+v", quote, got)
			}
		}
		c.until(t, batch.Never)
		for _, j := range c.jobs {
			if j.State != Done || j.Started > j.Submitted.Add(j.Estimate.Wait) ||
				j.Ended > j.Submitted.Add(j.Estimate.Completion) {
				t.Fatalf("promised %+v, got %v: %d to %d", j.Estimate, j.State, j.Started, j.Ended)
			}
		}
		if l := s.Load(); l != (Load{Ended: int64(len(c.jobs)), Processors: processors}) {
			t.Fatalf("load at the end: %+v", l)
		}
	})
}
