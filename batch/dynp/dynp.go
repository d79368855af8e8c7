package dynp

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/counted"
)

// Policy is dynP. It implements batch.Policy.
type Policy struct {
	// Base has the running jobs and the reservations in its profile, and the waiting
	// jobs in its queue by submission, without starts.
	counted.Base
	*config

	active   int          // index of a policy
	arrived  []batch.Time // by handle
	starts   []batch.Time // by handle, of the plan; of those that wait and are not held
	wake     batch.Time   // the first of them that is to come
	came     bool         // jobs came since the last pass
	changed  bool         // anything happened
	stepped  batch.Time   // the last step; not a time before the first
	switched batch.Time   // likewise
	left     []batch.Handle
	counts   counts

	// Scratch: what follows is of one pass.
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

// New returns dynP for a platform. docs/operators.md lists its settings.
func New(pf batch.Platform, s batch.Settings) (batch.Policy, error) {
	c, err := parse(s)
	if err != nil {
		return nil, err
	}
	return &Policy{
		Base: counted.New(pf), config: c, wake: batch.Never,
		stepped: before, switched: before, plans: make([]plan, len(c.policies)), counts: newCounts(len(c.policies)),
	}, nil
}

// Fork returns an independent copy.
func (p *Policy) Fork() batch.Policy {
	return &Policy{
		Base: p.Base.Fork(), config: p.config, active: p.active,
		arrived: slices.Clone(p.arrived), starts: slices.Clone(p.starts), wake: p.wake, came: p.came, changed: p.changed,
		stepped: p.stepped, switched: p.switched, left: slices.Clone(p.left),
		plans: make([]plan, len(p.plans)), counts: p.counts.clone(),
	}
}

// Apply takes one event. See batch.Policy.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	p.Profile.Trim(now)
	if t, mine := p.Turn(now, ev); mine {
		p.changed = p.changed || t.Outside
		return
	}
	p.changed = true
	switch ev.Kind {
	case batch.Submit, batch.Reserve:
		p.Admit(now, ev.Spec, ev.Kind == batch.Reserve)
		p.enter(now, ev.Spec.Handle)
	case batch.Adopt:
		p.Adopt(now, ev)
	case batch.Cancel:
		p.Forget(ev.Job)
	case batch.Finish:
		charge, end := p.Finish(ev.Job)
		p.Profile.Release(now, end, charge)
	case batch.StartFailed:
		charge, end := p.Fail(ev.Job)
		p.Profile.Release(now, end, charge)
	case batch.Hold:
		p.Hold(ev.Job)
	case batch.Place:
		p.Place(now, ev)
		p.came = true
	case batch.Confirm:
		p.Confirm(now, ev.Job)
		p.came = true
	case batch.NodeUp, batch.NodeDown:
		p.SwitchNode(now, ev.Node, ev.Kind == batch.NodeUp)
	default:
		panic(fmt.Sprintf("dynp: event %v has no meaning here", ev.Kind))
	}
}

// enter notes when a job came.
func (p *Policy) enter(now batch.Time, h batch.Handle) {
	for int(h) >= len(p.arrived) {
		p.arrived, p.starts = append(p.arrived, 0), append(p.starts, batch.Never)
	}
	p.arrived[h], p.starts[h] = now, batch.Never
	p.came = true
	if p.shared { // the handle may be that of a job that has left since the last pass
		p.left = slices.DeleteFunc(p.left, func(x batch.Handle) bool { return x == h })
	}
}

// Decide plans all waiting jobs anew if anything has happened, with a self-tuning
// step before if one is due, and starts those that are planned for now.
func (p *Policy) Decide(now batch.Time, out *batch.Decisions) {
	p.Profile.Trim(now)
	if p.Serve(now, out) { // this pass is over
		return
	}
	late := p.Settle(now, 0)
	if !p.changed && !late && now < p.wake {
		return
	}
	due := p.due(now)
	p.changed, p.came, p.wake = false, false, batch.Never
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

// due says whether this pass may have a self-tuning step.
func (p *Policy) due(now batch.Time) bool {
	return len(p.plans) > 1 && (p.came || p.changed && !p.half) && now != p.stepped &&
		(p.switched == before || now.Sub(p.switched) >= p.pause)
}

// at says whether all jobs of a plan start at an instant.
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

// launch starts the jobs of a plan that are planned for now, in its order, and notes
// when the others will be.
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
			p.Begin(now, t.job)
			p.Profile.Reserve(now, p.PlannedEnd(t.job), t.shape.Width)
			out.Start(t.job)
			p.counts.started[p.active]++
		}
	}
}

// Wake returns the next planned start.
func (p *Policy) Wake() batch.Time { return min(p.wake, p.NextServe()) }
