package dynp

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// Policy is dynP. It implements batch.Policy.
type Policy struct {
	// Backlog has running jobs, reservations and agreed jobs in its profile, and the
	// other waiting jobs in its queue by submission, without starts.
	counted.Backlog
	*config

	active   int          // index of a policy
	arrived  []batch.Time // by handle
	starts   []batch.Time // by handle: planned starts of waiting jobs that are not held
	wake     batch.Time   // the earliest planned start ahead
	came     bool         // jobs arrived since the last pass
	changed  bool         // any event since the last pass
	stepped  batch.Time   // the last step; before if there was none
	switched batch.Time   // the last switch; before if there was none
	left     []batch.Handle
	counts   counts

	// Scratch of one pass.
	tasks   []task
	plans   []plan
	planner planner
	all     wide
	bound   limit
	sums    []wide
	inquiry inquiry
	sorter  sorter
}

// before is an instant before all others.
const before batch.Time = -1 << 62

// New returns dynP for a platform. docs/policies/dynp.md lists its settings.
func New(pf batch.Platform, s batch.Settings) (batch.Policy, error) {
	c, err := parse(s)
	if err != nil {
		return nil, err
	}
	return &Policy{
		Backlog: counted.NewUnparked(pf), config: c, wake: batch.Never,
		stepped: before, switched: before, plans: make([]plan, len(c.policies)), counts: newCounts(len(c.policies)),
	}, nil
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy {
	return &Policy{
		Backlog: p.Backlog.Fork(), config: p.config, active: p.active,
		arrived: slices.Clone(p.arrived), starts: slices.Clone(p.starts), wake: p.wake, came: p.came,
		changed: p.changed,
		stepped: p.stepped, switched: p.switched, left: slices.Clone(p.left),
		plans: make([]plan, len(p.plans)), counts: p.counts.clone(),
	}
}

// Apply takes one event. See batch.Policy.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Measured { // this policy plans with declared needs
		return
	}
	if p.AboutAgreed(ev) { // it waits in the profile, not in the queue
		p.ApplyAgreed(now, ev, p.Profile)
		p.changed = true
		return
	}
	inside := p.inside(ev)
	p.Backlog.Apply(now, ev)
	if inside {
		return
	}
	p.changed = true
	switch ev.Kind {
	case batch.Submit, batch.Reserve:
		if ev.Spec.Window == nil {
			p.enter(now, ev.Spec.Handle)
		}
	case batch.Place, batch.Confirm:
		p.came = true
	}
}

// inside reports whether an event is about a job in a reservation, which does not affect
// other jobs.
func (p *Policy) inside(ev *batch.Event) bool {
	if ev.Spec != nil {
		return ev.Spec.Into != batch.NoJob
	}
	return ev.Job != batch.NoJob && p.Inside(ev.Job)
}

// enter records the arrival of a job.
func (p *Policy) enter(now batch.Time, h batch.Handle) {
	for int(h) >= len(p.arrived) {
		p.arrived, p.starts = append(p.arrived, 0), append(p.starts, batch.Never)
	}
	p.arrived[h], p.starts[h] = now, batch.Never
	p.came = true
	if p.shared { // the handle may have belonged to a job that left since the last pass
		p.left = slices.DeleteFunc(p.left, func(x batch.Handle) bool { return x == h })
	}
}

// Decide replans all waiting jobs if there was any event, with a self-tuning step first if
// one is due, and starts the jobs that are planned for now.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	if p.Prepare(now, out) { // this pass is over
		return
	}
	if !p.changed && !p.Changed && now < p.wake {
		return
	}
	p.startAgreed(now, out)
	due := p.due(now)
	p.Changed, p.changed, p.came, p.wake = false, false, false, batch.Never
	room := p.gather(now) <= int64(p.Free)
	if len(p.tasks) == 0 {
		return
	}
	p.look()
	if !due || room {
		p.arrange(p.active)
		p.planner.make(now, &p.plans[p.active], nil, p.tasks, p.Profile, p.objective, nil)
	}
	if due && !(room && p.plans[p.active].at(now)) {
		p.tune(now, p.step(now, room))
	}
	p.settle(now)
	p.launch(now, &p.plans[p.active], out)
}

// startAgreed starts the agreed jobs that are due to start, and those that fit
// now: they go before all planned jobs.
func (p *Policy) startAgreed(now batch.Time, out *batch.Decisions) {
	p.StartDue(now, out)
	for k := 0; k < p.Agreed(); k++ {
		if p.StartEarly(now, k, out) {
			k = -1 // the slot it leaves may be what another one waits for
		}
	}
}

// due reports whether this pass may have a self-tuning step.
func (p *Policy) due(now batch.Time) bool {
	return len(p.plans) > 1 && (p.came || p.changed && !p.half) && now != p.stepped &&
		(p.switched == before || now.Sub(p.switched) >= p.pause)
}

// at reports whether all jobs of a plan start at an instant.
func (pl *plan) at(now batch.Time) bool {
	return !slices.ContainsFunc(pl.starts, func(t batch.Time) bool { return t != now })
}

// tune makes a policy the active one.
func (p *Policy) tune(now batch.Time, chosen int) {
	p.stepped = now
	if chosen == p.active {
		return
	}
	p.switched = now
	p.counts.note(p.report(now, chosen))
	p.counts.switches[chosen]++
	p.active = chosen
}

// launch starts the jobs that a plan starts now, in its order, and records the starts of
// the others.
func (p *Policy) launch(now batch.Time, pl *plan, out *batch.Decisions) {
	for _, i := range pl.order {
		t := &p.tasks[i]
		start := pl.starts[i]
		p.starts[t.job] = start
		switch {
		case start > now:
			p.wake = min(p.wake, start)
		case !t.incoming:
			p.Queue.Remove(t.job)
			p.Launch(now, t.job, out)
			p.counts.started[p.active]++
		}
	}
}

// Wake returns the next planned start.
func (p *Policy) Wake() batch.Time { return min(p.wake, p.Backlog.Wake()) }
