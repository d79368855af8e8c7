package engine

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Observer is called when jobs start and end.
type Observer interface {
	// Started: job begins on places, which are nil where the policy does not
	// care; they are valid during the call only.
	Started(now batch.Time, job *batch.Job, places []batch.NodeAllocation)
	// Ended: job has ended; its handle is free. killed says that the policy
	// ended it.
	Ended(now batch.Time, job *batch.Job, killed bool)
}

// Watcher is an Observer that is also called after each decision has been carried out.
type Watcher interface {
	Observer
	// Decided: the decision's places are valid during the call only.
	Decided(now batch.Time, job *batch.Job, d *batch.Decision)
}

// staleEnds is how many stale entries may lie among the ends beside one for each job:
// shares that change all the time would fill the heap with them.
const staleEnds = 64

// Engine drives one policy. Make one with New.
type Engine struct {
	// PassEachEvent makes a pass after every end and every submission, not only
	// where the caller asks for one.
	PassEachEvent bool
	// Penalty is for how long a job that was resumed or migrated holds its places
	// before it continues: the cost of saving and restoring it. The policy does not know.
	Penalty batch.Duration
	// Transfer, if it is not nil, returns how long a job that starts or continues at other
	// places holds them, beside the penalty, until its data are there. Its argument is the
	// places of a Start, Resume or Migrate. The policy does not know.
	Transfer func(job *batch.Job, to []batch.NodeAllocation) batch.Duration

	policy   batch.Policy
	observer Observer
	watcher  Watcher // the observer, if it wants to know; else nil
	now      batch.Time
	ends     ends
	live     int    // jobs with a yield, each with one entry in ends that is not stale
	returns  []end  // of those that pay the penalty: when it is over, in order
	edges    []edge // of windows, in order
	seq      uint32
	jobs     []job // by handle
	out      batch.Decisions
	feedback []batch.Event // what carrying out decisions has caused
	event    batch.Event   // scratch
	ledger   *Ledger
	nodes    []batch.Node // for their scores; nil: all alike
	passes   int
	uses     map[batch.Handle][]batch.Share // see Uses; nil: none
}

// job is a job that the policy knows.
type job struct {
	spec   *batch.Job
	work   batch.Duration // in time at full yield
	left   batch.Duration // of it, at since
	since  batch.Time     // not before the end of its penalty
	yield  batch.Share    // since then; 0 while it does not run
	seq    uint32         // of its entry in ends; others are stale
	back   uint32         // of its entry in returns; 0 for none
	failed int            // launches still to fail
}

// New returns an engine at instant 0. The ledger checks every decision against
// the machine; nil trusts the policy.
func New(p batch.Policy, o Observer, l *Ledger) *Engine {
	w, _ := o.(Watcher)
	return &Engine{policy: p, observer: o, watcher: w, ledger: l, jobs: make([]job, 1)}
}

// Machine sets the scores of the nodes: a job with a Reference runs
// at Score/Reference of its speed. Without it all nodes are alike.
func (e *Engine) Machine(p batch.Platform) { e.nodes = p.Nodes }

// Policy returns the policy, for estimates.
func (e *Engine) Policy() batch.Policy { return e.policy }

// Now returns the current instant.
func (e *Engine) Now() batch.Time { return e.now }

// Passes returns the number of scheduling passes so far.
func (e *Engine) Passes() int { return e.passes }

// Next returns the next instant at which something happens by itself: a job ends,
// a window opens or closes, or the policy wants a pass. Never if nothing does.
func (e *Engine) Next() batch.Time {
	next := e.policy.Wake()
	if len(e.edges) > 0 {
		next = min(next, e.edges[0].at)
	}
	for len(e.returns) > 0 && e.jobs[e.returns[0].job].back != e.returns[0].seq {
		e.returns = slices.Delete(e.returns, 0, 1)
	}
	if len(e.returns) > 0 {
		next = min(next, e.returns[0].at)
	}
	for len(e.ends) > 0 {
		top := &e.ends[0]
		if e.jobs[top.job].seq == top.seq {
			return min(top.at, next)
		}
		e.ends.pop()
	}
	return next
}

// Advance goes to now, which is not after Next, ends the jobs that are due, and
// then closes and opens windows.
func (e *Engine) Advance(now batch.Time) {
	e.now = now
	for len(e.ends) > 0 && e.ends[0].at <= now {
		top := e.ends.pop()
		if e.jobs[top.job].seq != top.seq {
			continue
		}
		if top.at < now {
			panic(fmt.Sprintf("engine: advanced to %d past the end of job %d at %d", now, top.job, top.at))
		}
		e.finish(top.job, false)
	}
	for len(e.returns) > 0 && e.returns[0].at <= now {
		top := e.returns[0]
		e.returns = slices.Delete(e.returns, 0, 1)
		if j := &e.jobs[top.job]; j.back == top.seq {
			j.back = 0
			e.event = batch.Event{Kind: batch.Resumed, Job: top.job}
			e.policy.Apply(now, &e.event)
		}
	}
	e.turnWindows()
}

// Finish ends a running job. A job with work batch.Forever ends in no other way.
func (e *Engine) Finish(h batch.Handle) { e.finish(h, false) }

func (e *Engine) finish(h batch.Handle, killed bool) {
	spec := e.jobs[h].spec
	if e.jobs[h].yield > 0 {
		e.live--
	}
	e.jobs[h] = job{}
	delete(e.uses, h)
	if e.ledger != nil {
		e.ledger.leave(h)
	}
	e.event = batch.Event{Kind: batch.Finish, Job: h}
	e.policy.Apply(e.now, &e.event)
	e.observer.Ended(e.now, spec, killed)
	if e.PassEachEvent {
		e.Pass()
	}
}

// Submit hands a job to the policy. work is how long it runs on whole
// processors; what limits it (a walltime) is the caller's business.
func (e *Engine) Submit(spec *batch.Job, work batch.Duration) {
	e.Admit(spec, work)
	e.event = batch.Event{Kind: batch.Submit, Spec: spec, Job: spec.Handle}
	e.policy.Apply(e.now, &e.event)
	if e.PassEachEvent {
		e.Pass()
	}
}

// Admit makes a job known that comes to the policy by an event of the caller's:
// Reserve, or Adopt, for which work is what is left of it.
func (e *Engine) Admit(spec *batch.Job, work batch.Duration) {
	for int(spec.Handle) >= len(e.jobs) {
		e.jobs = append(e.jobs, job{})
	}
	e.jobs[spec.Handle] = job{spec: spec, work: work, left: work}
}

// Apply hands an event of the caller's to the policy. After Cancel the job's
// handle is free. An advance reservation needs no Admit: its window opens and
// closes by itself. A job placed with another shape is reported with it from then
// on; its work stays.
func (e *Engine) Apply(ev *batch.Event) {
	if ev.Kind == batch.Reserve && ev.Spec.Window != nil {
		e.Admit(ev.Spec, 0)
		e.reserveWindow(ev.Spec)
	}
	e.policy.Apply(e.now, ev)
	switch j := &e.jobs[ev.Job]; {
	case ev.Kind == batch.Adopt:
		e.adopt(j.spec, ev)
	case ev.Kind == batch.Measured && e.ledger != nil:
		e.ledger.measure(ev)
	case ev.Kind == batch.Cancel:
		*j = job{}
		delete(e.uses, ev.Job)
		e.dropWindow(ev.Job)
	case ev.Kind == batch.Place && j.spec.Shape != ev.Shape:
		spec := *j.spec // the policy may still read the old one
		spec.Shape = ev.Shape
		j.spec = &spec
	}
}

// adopt lets a job run that the policy has found running.
func (e *Engine) adopt(spec *batch.Job, ev *batch.Event) {
	if e.ledger != nil {
		e.ledger.adopt(spec, ev.Allocation)
	}
	e.observer.Started(e.now, spec, ev.Allocation)
	e.run(spec.Handle, e.yield(spec, ev.Allocation))
}

// FailStart makes the next launch of a job fail.
func (e *Engine) FailStart(h batch.Handle) { e.jobs[h].failed++ }

// Pass asks for scheduling passes until one causes no event at this instant.
func (e *Engine) Pass() {
	for {
		e.out.Reset()
		e.passes++
		e.policy.Decide(e.now, &e.out)
		e.feedback = e.feedback[:0]
		for i := range e.out.List {
			e.carryOut(&e.out.List[i])
		}
		if e.ledger != nil {
			e.ledger.check(e.now)
		}
		if len(e.feedback) == 0 {
			break
		}
		for i := range e.feedback {
			ev := &e.feedback[i]
			if ev.Kind == batch.Finish {
				e.finish(ev.Job, true)
			} else {
				e.policy.Apply(e.now, ev)
			}
		}
	}
	if w := e.policy.Wake(); w <= e.now {
		panic(fmt.Sprintf("engine: at %d the policy wants the pass of %d again", e.now, w))
	}
}

func (e *Engine) carryOut(d *batch.Decision) {
	if int(d.Job) >= len(e.jobs) || e.jobs[d.Job].spec == nil {
		panic(fmt.Sprintf("engine: decision %v for job %d, which is not here", d.Kind, d.Job))
	}
	j := &e.jobs[d.Job]
	running := j.yield > 0
	if wants := d.Kind != batch.Start && d.Kind != batch.Resume; wants != running && d.Kind != batch.Kill {
		panic(fmt.Sprintf("engine: decision %v for job %d, running: %t", d.Kind, d.Job, running))
	}
	if d.Kind == batch.Start && j.failed > 0 {
		j.failed--
		e.feedback = append(e.feedback, batch.Event{Kind: batch.StartFailed, Job: d.Job})
		return
	}
	if e.ledger != nil {
		e.ledger.note(e.now, j.spec, d)
	}
	switch d.Kind {
	case batch.Start:
		e.observer.Started(e.now, j.spec, d.Allocation)
		e.run(d.Job, e.yield(j.spec, d.Allocation))
		e.hold(d.Job, e.transfer(j.spec, d.Allocation))
	case batch.SetShare:
		e.run(d.Job, e.yield(j.spec, d.Allocation))
	case batch.Resume:
		e.run(d.Job, e.yield(j.spec, d.Allocation))
		e.comeBack(d.Job, e.Penalty+e.transfer(j.spec, d.Allocation))
	case batch.Migrate:
		e.run(d.Job, e.yield(j.spec, d.Allocation))
		e.stopped(d.Job)
		e.comeBack(d.Job, e.Penalty+e.transfer(j.spec, d.Allocation))
	case batch.Pause:
		e.run(d.Job, 0)
		e.stopped(d.Job)
	case batch.Kill:
		e.run(d.Job, 0)
		e.feedback = append(e.feedback, batch.Event{Kind: batch.Finish, Job: d.Job})
	}
	if e.watcher != nil {
		e.watcher.Decided(e.now, j.spec, d)
	}
}

// stopped reports that a job has left its old processors with what it has done.
func (e *Engine) stopped(h batch.Handle) {
	j := &e.jobs[h]
	e.feedback = append(e.feedback, batch.Event{
		Kind: batch.Stopped, Job: h, Checkpoint: true, Progress: j.work - j.left,
	})
}

// run lets a job progress at a yield, from now on or from the end of its penalty.
func (e *Engine) run(h batch.Handle, y batch.Share) {
	j := &e.jobs[h]
	if j.yield > 0 {
		e.live--
		if j.since < e.now {
			j.left = max(0, j.left-progress(e.now.Sub(j.since), j.yield))
		}
	}
	if j.yield == 0 || y == 0 || j.since < e.now {
		j.since, j.back = e.now, 0
	}
	j.yield = y
	e.foresee(h)
}

// foresee enters the end that a job has if nothing changes. The entry it had before
// is stale.
func (e *Engine) foresee(h batch.Handle) {
	j := &e.jobs[h]
	e.seq++
	j.seq = e.seq
	if j.yield == 0 {
		return
	}
	e.live++
	if len(e.ends) > 2*e.live+staleEnds {
		e.ends.keep(func(x end) bool { return e.jobs[x.job].seq == x.seq })
	}
	e.ends.push(end{j.since.Add(needs(j.left, j.yield)), j.seq, h})
}
