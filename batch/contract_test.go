package batch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// The contract between policies and drivers must support more policies than the embedded
// ones: with shared processors, with unlike machines and licenses, with windows. Three toys
// in contract_*_test.go represent them. They use the same engine and ledger as the real
// policies.

// diary is an engine.Observer that records the nodes, start and end of each job, in
// seconds.
type diary struct {
	begun map[batch.Handle]string
	lines []string
}

func (d *diary) Started(now batch.Time, job *batch.Job, places []batch.NodeAllocation) {
	s := fmt.Sprintf("#%d", job.Handle)
	for _, p := range places {
		s += fmt.Sprintf(" n%d", p.Node)
	}
	d.begun[job.Handle] = s + fmt.Sprintf(" %g", now.Sub(0).Seconds())
}

func (d *diary) Ended(now batch.Time, job *batch.Job, killed bool) {
	line := fmt.Sprintf("%s-%g", d.begun[job.Handle], now.Sub(0).Seconds())
	if killed {
		line += " killed"
	}
	d.lines = append(d.lines, line)
}

// act is an action of the caller of an engine.
type act struct {
	at int
	do func(e *engine.Engine)
}

// submit returns the arrival of a job; at and work are in seconds.
func submit(at int, job batch.Job, work float64) act {
	return act{at, func(e *engine.Engine) { e.Submit(&job, batch.Duration(work*float64(batch.Second))) }}
}

// perform runs acts through a policy, under a ledger, until no events are left, and
// compares the diary.
func perform(t *testing.T, p batch.Policy, platform batch.Platform, acts []act, want ...string) {
	t.Helper()
	d := &diary{begun: map[batch.Handle]string{}}
	e := engine.New(p, d, engine.NewLedger(platform))
	e.Machine(platform)
	for {
		next := e.Next()
		if len(acts) > 0 {
			next = min(next, secs(acts[0].at))
		}
		if next == batch.Never {
			break
		}
		e.Advance(next)
		for ; len(acts) > 0 && secs(acts[0].at) == next; acts = acts[1:] {
			acts[0].do(e)
		}
		e.Pass()
	}
	if diff := cmp.Diff(want, d.lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// wantPanic runs f and fails the test unless f panics with the words.
func wantPanic(t *testing.T, words string, run func()) {
	t.Helper()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, words) {
			t.Errorf("panic %q, want one with %q", got, words)
		}
	}()
	run()
}

// reckless is a policy whose pass can exceed the machine.
type reckless struct {
	pass func(now batch.Time, out *batch.Decisions)
}

func (r *reckless) Apply(batch.Time, *batch.Event) {}
func (r *reckless) Decide(now batch.Time, out *batch.Decisions) {
	if r.pass != nil {
		r.pass(now, out)
		r.pass = nil
	}
}

func (r *reckless) Wake() batch.Time                                                  { return batch.Never }
func (r *reckless) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }
func (r *reckless) Fork() batch.Policy                                                { return &reckless{} }

func TestTheLedgerRefusesImpossibleDecisions(t *testing.T) {
	platform := batch.Platform{
		Nodes:    []batch.Node{{Processors: 2, Memory: 10}, {Processors: 1, Licenses: []string{"cad"}}},
		Licenses: []batch.LicensePool{{Name: "sim", Copies: 1}},
	}
	place := func(node, n int32, share batch.Share) batch.NodeAllocation {
		return batch.NodeAllocation{Node: node, Processors: n, Share: share}
	}
	start := func(jobs ...batch.NodeAllocation) func(batch.Time, *batch.Decisions) {
		return func(_ batch.Time, out *batch.Decisions) {
			for i, at := range jobs {
				out.Add(batch.Start, batch.Handle(i+1), at)
			}
		}
	}
	anywhere := func(_ batch.Time, out *batch.Decisions) { out.Start(1); out.Start(2) }
	sim := []batch.License{{Name: "sim", Copies: 1}}
	for _, c := range []struct {
		name, want string
		job        batch.Job
		pass       func(batch.Time, *batch.Decisions)
	}{
		{"width", "4 of 3 processors", batch.Job{Shape: batch.Shape{Width: 2}}, anywhere},
		{"share", "node 1 gives", batch.Job{}, start(place(1, 1, batch.One), place(1, 1, 1))},
		{
			"memory", "20 bytes taken of 10",
			batch.Job{Memory: 10},
			start(place(0, 1, batch.One), place(0, 1, batch.One)),
		},
		{
			"bound license", "cannot run cad",
			batch.Job{Licenses: []batch.License{{Name: "cad", Copies: 1}}},
			start(place(0, 1, batch.One)),
		},
		{
			"floating license", "2 copies of license sim",
			batch.Job{Licenses: sim},
			start(place(0, 1, batch.One), place(0, 1, batch.One)),
		},
		{"early", "before", batch.Job{EarliestStart: 1}, start(place(0, 1, batch.One))},
		{"twice", "running: true", batch.Job{}, func(_ batch.Time, out *batch.Decisions) {
			out.Start(1)
			out.Start(1)
		}},
		{"pause", "running: false", batch.Job{}, func(_ batch.Time, out *batch.Decisions) { out.Add(batch.Pause, 1) }},
		{"unknown job", "not here", batch.Job{}, func(_ batch.Time, out *batch.Decisions) { out.Start(9) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := engine.New(&reckless{c.pass}, &diary{begun: map[batch.Handle]string{}}, engine.NewLedger(platform))
			for h := range batch.Handle(2) {
				job := c.job
				job.Handle = h + 1
				e.Submit(&job, batch.Second)
			}
			wantPanic(t, c.want, e.Pass)
		})
	}
}

// A job that was running when the driver started counts like a started job.
func TestTheLedgerCountsAdoptedJobs(t *testing.T) {
	platform := batch.Platform{Nodes: []batch.Node{{Processors: 1}, {Processors: 1}}}
	place := batch.NodeAllocation{Node: 1, Processors: 1, Share: batch.One}
	d := &diary{begun: map[batch.Handle]string{}}
	e := engine.New(&reckless{func(_ batch.Time, out *batch.Decisions) { out.Add(batch.Start, 2, place) }}, d,
		engine.NewLedger(platform))
	found := &batch.Job{Handle: 1, Shape: batch.Shape{Width: 1, Walltime: batch.Minute}}
	e.Admit(found, batch.Second)
	e.Apply(&batch.Event{Kind: batch.Adopt, Job: 1, Spec: found, Since: -1, Allocation: []batch.NodeAllocation{place}})
	e.Submit(&batch.Job{Handle: 2, Shape: batch.Shape{Width: 1}}, batch.Second)
	wantPanic(t, "node 1 gives", e.Pass)
	e.Advance(e.Next())
	if diff := cmp.Diff([]string{"#1 n1 0-1"}, d.lines[:1]); diff != "" {
		t.Error(diff)
	}
}

// toy is the common part of the three toys.
type toy struct {
	jobs    map[batch.Handle]*toyJob
	waiting []batch.Handle // in submission order
}

type toyJob struct {
	spec    *batch.Job
	node    int32
	state   string
	share   batch.Share
	started batch.Time
}

func (t *toy) submit(spec *batch.Job) {
	t.jobs[spec.Handle] = &toyJob{spec: spec, state: "waiting"}
	t.waiting = append(t.waiting, spec.Handle)
}

func (t *toy) forget(h batch.Handle) {
	delete(t.jobs, h)
	t.leave(h)
}

func (t *toy) leave(h batch.Handle) {
	t.waiting = slices.DeleteFunc(t.waiting, func(x batch.Handle) bool { return x == h })
}

// on returns the jobs in a state on a node, by handle.
func (t *toy) on(node int32, states ...string) []batch.Handle {
	var list []batch.Handle
	for h, j := range t.jobs {
		if j.node == node && slices.Contains(states, j.state) {
			list = append(list, h)
		}
	}
	slices.Sort(list)
	return list
}

func (t *toy) fork() toy {
	c := toy{map[batch.Handle]*toyJob{}, slices.Clone(t.waiting)}
	for h, j := range t.jobs {
		k := *j
		c.jobs[h] = &k
	}
	return c
}
