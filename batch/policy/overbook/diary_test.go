package overbook_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

// diary runs a policy under an engine, and records decisions and ends in whole units of time.
type diary struct {
	*overbook.Policy
	unit  batch.Duration
	lines []string
}

func (d *diary) write(now batch.Time, what string, job batch.Handle) {
	d.lines = append(d.lines, fmt.Sprintf("%d %s %d", int64(now)/int64(d.unit), what, job))
}

func (d *diary) Decide(now batch.Time, out *batch.Decisions) {
	d.Policy.Decide(now, out)
	for _, x := range out.List {
		d.write(now, x.Kind.String(), x.Job)
	}
}

func (d *diary) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}

func (d *diary) Ended(now batch.Time, job *batch.Job, killed bool) {
	if !killed {
		d.write(now, "end", job.Handle)
	}
}

// act is an action at a time in units.
type act struct {
	at int
	do func(d *diary, e *engine.Engine)
}

// perform plays acts until no events are left, under a ledger.
func perform(t *testing.T, p *overbook.Policy, processors int32, unit batch.Duration, acts ...act) *diary {
	t.Helper()
	d := &diary{Policy: p, unit: unit}
	e := engine.New(d, d, engine.NewLedger(batch.Processors(processors)))
	for {
		next := e.Next()
		if len(acts) > 0 {
			next = min(next, d.time(acts[0].at))
		}
		if next == batch.Never {
			return d
		}
		e.Advance(next)
		for ; len(acts) > 0 && d.time(acts[0].at) == next; acts = acts[1:] {
			acts[0].do(d, e)
		}
		e.Pass()
	}
}

func (d *diary) time(n int) batch.Time         { return batch.Time(n) * batch.Time(d.unit) }
func (d *diary) duration(n int) batch.Duration { return batch.Duration(n) * d.unit }

func (d *diary) want(t *testing.T, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, d.lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// job is a job of a test, in units of time.
type job struct {
	h                  batch.Handle
	width, estimate    int
	runs               int // 0: its estimate
	from, due          int // due 0: no agreement
	checkpoint, honest bool
}

func (j job) spec(d *diary) *batch.Job {
	owner := "u" // overestimates
	if j.honest {
		owner = "honest"
	}
	return &batch.Job{
		Handle: j.h, Shape: batch.Shape{Width: int32(j.width), Walltime: d.duration(j.estimate)}, Owner: owner,
		EarliestStart: d.time(j.from), Deadline: d.time(j.due), Agreed: j.due > 0, Checkpoint: j.checkpoint,
	}
}

func submit(at int, j job) act {
	return act{at, func(d *diary, e *engine.Engine) {
		runs := j.runs
		if runs == 0 {
			runs = j.estimate
		}
		e.Submit(j.spec(d), d.duration(min(runs, j.estimate)))
	}}
}

// ask records the estimate for a job after the pass of that instant.
func ask(at int, j job) act {
	return act{at, func(d *diary, e *engine.Engine) {
		e.Pass()
		spec := j.spec(d)
		spec.Handle = batch.NoJob
		var out [1]batch.Estimate
		d.Estimate(e.Now(), []batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}, out[:])
		d.note("offer", spec.Shape.Walltime, &out[0])
	}}
}

func (d *diary) note(what string, walltime batch.Duration, e *batch.Estimate) {
	if e.Starts[0] == batch.Never {
		d.lines = append(d.lines, what+" never")
		return
	}
	s := fmt.Sprintf("%s %d-%d %v", what, int64(e.Starts[0])/int64(d.unit), int64(e.End(0, walltime))/int64(d.unit),
		e.Kind)
	if e.Kind == batch.Probable {
		s += fmt.Sprintf(" %.3f", e.P)
	}
	d.lines = append(d.lines, s)
}

// standing records the estimate for a waiting job.
func standing(at int, j job) act {
	return act{at, func(d *diary, e *engine.Engine) {
		e.Pass()
		spec := j.spec(d)
		var out [1]batch.Estimate
		d.Estimate(e.Now(), []batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}, out[:])
		d.note("stands", spec.Shape.Walltime, &out[0])
	}}
}

// policy returns a policy for which user u is known to overestimate: of 100 jobs one ran 1% of
// its estimate, one 2%, and so on.
func policy(t testing.TB, processors int32, s batch.Settings) *overbook.Policy {
	t.Helper()
	p, err := overbook.New(batch.Processors(processors), s)
	if err != nil {
		t.Fatal(err)
	}
	o := p.(*overbook.Policy)
	for i := range 100 {
		o.Learn("u", "", 100*batch.Second, batch.Duration(i+1)*batch.Second)
	}
	return o
}
