package overbook

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/runtimes"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
)

// Policy is CBF with overbooking. It implements batch.Policy.
type Policy struct {
	*cbf.Policy // keeps the plan
	set         settings
	history     *runtimes.History
	jobs        []job          // by handle
	waiting     []batch.Handle // queued jobs booked for less than their terms allow
	cut         []batch.Handle // running jobs booked for less than their limit
	stopping    int            // jobs being preempted
	last        batch.Time     // the last pass
	stoppedAt   batch.Time     // the last pass that preempted a job
	counts      Counts
	settled     []Settlement
	find        finder
}

// job is overbooking's own state of a job, beside CBF's.
type job struct {
	spec *batch.Job // from the driver; nil: there is no such job
	terms
	done     batch.Duration // work that a checkpoint saved
	began    batch.Time     // start of its current run
	nominal  batch.Time     // promised start of a job that counts on others; else Never
	over     bool           // overbooked on arrival
	p        float64        // probability of its slot on arrival
	running  bool
	paused   bool // continues from a checkpoint when it starts
	stopping bool
	killed   bool // by this policy
}

// New returns the policy for a platform.
func New(p batch.Platform, s batch.Settings) (batch.Policy, error) {
	set, err := parse(s)
	if err != nil {
		return nil, err
	}
	plan, err := cbf.New(p, nil)
	if err != nil {
		return nil, err
	}
	limits := runtimes.Limits{Samples: set.history, Keys: runtimes.Default.Keys}
	return &Policy{Policy: plan.(*cbf.Policy), set: set, history: runtimes.New(limits), last: -1, stoppedAt: -1}, nil
}

// Learn adds a job that has run before, elsewhere or in a trace.
func (p *Policy) Learn(owner, application string, estimate, runtime batch.Duration) {
	p.history.Add(owner, application, estimate, runtime)
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy {
	c := *p
	c.Policy = p.Policy.Fork().(*cbf.Policy)
	c.history = p.history.Fork()
	c.jobs, c.waiting, c.cut = slices.Clone(p.jobs), slices.Clone(p.waiting), slices.Clone(p.cut)
	c.settled = slices.Clone(p.settled)
	c.find = finder{}
	return &c
}

// Apply takes one event. See batch.Policy.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	p.Profile.Trim(now)
	switch ev.Kind {
	case batch.Submit, batch.Reserve, batch.Adopt:
		p.admit(now, ev)
	case batch.Finish:
		p.finish(now, ev)
	case batch.Stopped:
		p.stopped(now, ev)
	case batch.Resumed: // its end was planned when that was decided
	case batch.Measured:
	case batch.StartFailed:
		p.startFailed(now, ev)
	case batch.Place:
		p.leave(ev.Job)
		j := &p.jobs[ev.Job]
		j.terms = p.termsOf(j.spec, ev.Shape.Walltime)
		p.claim(now)
		p.Policy.Apply(now, ev)
		p.enter(now, ev.Job)
	case batch.Hold:
		p.leave(ev.Job)
		p.Policy.Apply(now, ev)
	case batch.Confirm:
		p.claim(now)
		p.Policy.Apply(now, ev)
	case batch.Cancel:
		p.leave(ev.Job)
		p.Policy.Apply(now, ev)
		if p.known(ev.Job) {
			p.jobs[ev.Job] = job{}
		}
	default:
		p.Policy.Apply(now, ev)
	}
}

func (p *Policy) known(h batch.Handle) bool { return int(h) < len(p.jobs) && p.jobs[h].spec != nil }

func (p *Policy) admit(now batch.Time, ev *batch.Event) {
	spec := ev.Spec
	if spec.Window != nil {
		p.Policy.Apply(now, ev)
		return
	}
	for int(spec.Handle) >= len(p.jobs) {
		p.jobs = append(p.jobs, job{})
	}
	p.jobs[spec.Handle] = job{
		spec: spec, terms: p.termsOf(spec, spec.Shape.Walltime), nominal: batch.Never, p: 1, done: spec.Done,
	}
	p.claim(now) // capacity freed at this instant goes to the jobs that count on it
	p.Policy.Apply(now, ev)
	if ev.Kind == batch.Adopt {
		j := &p.jobs[spec.Handle]
		j.running, j.began = true, ev.Since
		return
	}
	p.enter(now, spec.Handle)
}

// startFailed replans a job that could not be launched.
func (p *Policy) startFailed(now batch.Time, ev *batch.Event) {
	j := &p.jobs[ev.Job]
	j.running = false
	p.uncut(ev.Job)
	p.Job(ev.Job).Walltime = j.limit
	p.Policy.Apply(now, ev)
	p.enter(now, ev.Job)
}

// Decide resolves conflicts, straightens the plan, and starts the jobs whose planned start
// has come. While a job is being preempted it decides nothing else: a plan made around
// jobs that are about to leave would give their processors to other jobs than those for
// which they leave.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	p.Profile.Trim(now)
	p.last = now
	if p.stopping == 0 {
		p.decide(now, out)
	}
}

// foresee applies to a copy what is expected by now: a job with a slow preemption
// overruns.
func (p *Policy) foresee(now batch.Time) {
	if p.stopping == 0 || p.stoppedAt != now {
		p.decide(now, &batch.Decisions{})
	}
}

func (p *Policy) decide(now batch.Time, out *batch.Decisions) {
	p.Profile.Trim(now)
	p.last = now
	if len(p.waiting)+len(p.cut) > 0 { // otherwise CBF compresses later, for waiting jobs only
		p.GiveUp(now)
	}
	p.claim(now)
	if p.conflicts(now, out) {
		p.stoppedAt = now
		return
	}
	if len(p.waiting) > 0 {
		p.Compress(now)
		p.claim(now)
		p.straighten()
	}
	p.start(now, out)
	for p.claim(now) { // a new plan by CBF leaves them other time
		p.start(now, out)
	}
}

// start runs a pass of CBF.
func (p *Policy) start(now batch.Time, out *batch.Decisions) {
	from := len(out.List)
	p.Policy.Decide(now, out)
	for i := from; i < len(out.List); i++ {
		if d := &out.List[i]; d.Kind == batch.Start && p.known(d.Job) {
			p.begin(now, d)
		}
	}
}

// begin records the start of a job. A job that continues from a checkpoint is resumed.
func (p *Policy) begin(now batch.Time, d *batch.Decision) {
	j := &p.jobs[d.Job]
	if j.nominal < now {
		p.counts.Late++
	}
	p.leave(d.Job)
	j.began, j.running = now, true
	if p.PlannedEnd(d.Job) < now.Add(j.limit) {
		p.cut = append(p.cut, d.Job)
		p.counts.Cut++
	}
	if j.paused {
		d.Kind = batch.Resume
		j.paused = false
	}
}

// Wake returns the next instant at which a job starts or is preempted.
func (p *Policy) Wake() batch.Time {
	next := p.Policy.Wake()
	for _, h := range p.cut {
		if !p.jobs[h].stopping {
			next = min(next, p.PlannedEnd(h))
		}
	}
	if p.stopping > 0 {
		if soon := p.last.Add(batch.Second); next <= p.last || next > soon {
			next = soon
		}
	}
	return next
}
