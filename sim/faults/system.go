package faults

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// system is the batch system of a server: a policy under an engine, with the rules of package
// batch/exec for commands. It dies with its server.
type system struct {
	s        *server
	engine   *engine.Engine
	attempts map[batch.Key]*attempt
	byHandle []*attempt
	out      [1]batch.Estimate
}

// attempt is an attempt in the batch system.
type attempt struct {
	key    batch.Key
	spec   *batch.Job
	shape  batch.Shape
	phase  batch.Phase
	ending batch.End // set while it is being ended
	last   bool      // Place put it last
	aside  bool      // reserved and held
}

func newSystem(s *server, p batch.Policy, platform batch.Platform) *system {
	y := &system{s: s, attempts: make(map[batch.Key]*attempt), byHandle: make([]*attempt, 1)}
	ledger := engine.NewLedger(platform)
	if s.self {
		// Attempts of an earlier life can exist beside those of this one.
		ledger = nil
	}
	y.engine = engine.New(p, y, ledger)
	return y
}

// do carries out commands and makes a scheduling pass.
func (y *system) do(now batch.Time, cmds []batch.Command) {
	y.engine.Advance(now)
	for i := range cmds {
		y.carry(&cmds[i])
	}
	y.engine.Pass()
}

// Estimate implements site.Planner.
func (y *system) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	return y.s.w.forecaster.Estimate(now, y.engine.Policy(), asks, out)
}

// Snapshot implements loop.System.
func (y *system) Snapshot(context.Context) (snap batch.Snapshot, err error) {
	y.engine.Advance(y.s.now())
	listed := make(map[*attempt]bool)
	for _, a := range y.byHandle[1:] {
		if listed[a] || a.phase == batch.PhaseEnded {
			continue
		}
		listed[a] = true
		f := batch.Found{Key: a.key, Phase: a.phase}
		if a.phase < batch.PhaseStarting {
			snap.Waiting = append(snap.Waiting, f)
		} else {
			snap.Running = append(snap.Running, f)
		}
	}
	return snap, nil
}

// Find implements loop.System.
func (y *system) Find(_ context.Context, keys []batch.Key) (found []batch.Found, err error) {
	for _, key := range keys {
		if a := y.attempts[key]; a != nil {
			found = append(found, batch.Found{Key: key, Phase: a.phase})
		}
	}
	return found, nil
}

// Standing implements site.Plan.
func (y *system) Standing(now batch.Time, key batch.Key) (batch.Time, bool) {
	a := y.attempts[key]
	if a == nil || a.phase != batch.PhaseQueued {
		return batch.Never, false
	}
	asks := [1]batch.Ask{{Job: a.spec, Shapes: []batch.Shape{a.shape}}}
	if !y.Estimate(now, asks[:], y.out[:]) || y.out[0].Starts[0] == batch.Never {
		return batch.Never, false
	}
	return y.out[0].End(0, a.shape.Walltime), true
}

// Started implements engine.Observer: the policy has started a job.
func (y *system) Started(now batch.Time, job *batch.Job, _ []batch.NodeAllocation) {
	a := y.byHandle[job.Handle]
	if a.phase != batch.PhaseQueued {
		return // adopted
	}
	a.phase = batch.PhaseStarting
	y.expire(a, now)
	y.s.start(a)
}

// Ended implements engine.Observer.
func (y *system) Ended(batch.Time, *batch.Job, bool) {}

// expire kills an attempt at its walltime.
func (y *system) expire(a *attempt, since batch.Time) {
	w := y.s.w
	at := y.s.clock.when(since.Add(a.shape.Walltime))
	w.queue.add(max(at, w.now), func() {
		if y.s.system == y {
			y.end(a, batch.EndKilled)
		}
	})
}

func (y *system) apply(ev *batch.Event, a *attempt) {
	ev.Job = a.spec.Handle
	y.engine.Apply(ev)
}

func (y *system) enter(key batch.Key, spec *batch.Job, phase batch.Phase) *attempt {
	spec.Handle = batch.Handle(len(y.byHandle))
	a := &attempt{key: key, spec: spec, shape: spec.Shape, phase: phase}
	y.attempts[key] = a
	y.byHandle = append(y.byHandle, a)
	return a
}

func (y *system) carry(cmd *batch.Command) {
	a := y.attempts[cmd.Key]
	switch cmd.Kind {
	case batch.CmdSubmit:
		if a == nil {
			y.enter(cmd.Key, cmd.Job, batch.PhaseQueued)
			y.engine.Submit(cmd.Job, batch.Forever)
		}
		if y.s.self && y.s.host.claims[cmd.Key] != nil {
			y.s.host.notify(cmd.Key) // a launched attempt is reported again: it can have started long ago
		}
		return
	case batch.CmdReserve:
		if a == nil {
			a = y.enter(cmd.Key, cmd.Job, batch.PhaseReserved)
			y.engine.Admit(cmd.Job, batch.Forever)
			y.apply(&batch.Event{Kind: batch.Reserve, Spec: cmd.Job}, a)
		}
		return
	}
	if a == nil || a.phase == batch.PhaseEnded {
		return // refused, or nothing to do
	}
	queued := a.phase == batch.PhaseQueued || a.phase == batch.PhaseHeld
	switch cmd.Kind {
	case batch.CmdConfirm:
		y.confirm(a)
	case batch.CmdHold:
		y.hold(a)
	case batch.CmdRelease:
		if a.phase == batch.PhaseHeld {
			y.put(a, a.shape, true)
		}
	case batch.CmdPlace:
		again := a.phase == batch.PhaseQueued && a.shape == cmd.Shape && a.last != cmd.Restore
		if queued && !again {
			y.put(a, cmd.Shape, cmd.Restore)
		}
	case batch.CmdCancel:
		if c := y.s.host.claims[a.key]; y.s.self && queued && c != nil && c.state != ofServer {
			y.surprise(y.engine.Now(), a)
			y.s.host.notify(a.key)
		}
		if a.phase >= batch.PhaseStarting {
			y.end(a, batch.EndCancelled)
			return
		}
		y.apply(&batch.Event{Kind: batch.Cancel}, a)
		a.phase = batch.PhaseEnded
		y.s.report(a.key, batch.EndCancelled)
	}
}

func (y *system) confirm(a *attempt) {
	if a.phase != batch.PhaseReserved {
		return
	}
	ev := batch.Event{Kind: batch.Confirm}
	if a.aside {
		ev = batch.Event{Kind: batch.Place, Shape: a.shape, Restore: true}
	}
	a.phase, a.aside = batch.PhaseQueued, false
	y.apply(&ev, a)
}

func (y *system) hold(a *attempt) {
	switch {
	case a.phase == batch.PhaseReserved && !a.aside:
		a.aside = true
	case a.phase == batch.PhaseQueued:
		a.phase = batch.PhaseHeld
	default:
		return
	}
	y.apply(&batch.Event{Kind: batch.Hold}, a)
}

func (y *system) put(a *attempt, shape batch.Shape, restore bool) {
	a.phase, a.shape, a.last = batch.PhaseQueued, shape, !restore
	y.apply(&batch.Event{Kind: batch.Place, Shape: shape, Restore: restore}, a)
}

// adopt enters an attempt that an earlier life of the server launched.
func (y *system) adopt(now batch.Time, key batch.Key, spec *batch.Job, since batch.Time, phase batch.Phase) {
	a := y.enter(key, spec, phase)
	y.engine.Admit(spec, batch.Forever)
	y.apply(&batch.Event{Kind: batch.Adopt, Spec: spec, Since: min(since, now)}, a)
	y.expire(a, since)
}

// surprise turns a waiting attempt into one that an earlier life of the server launched.
func (y *system) surprise(now batch.Time, a *attempt) {
	y.engine.Advance(now)
	y.apply(&batch.Event{Kind: batch.Cancel}, a)
	spec := *a.spec
	spec.Shape = a.shape
	a.spec, a.phase, a.aside = &spec, batch.PhaseStarting, false
	spec.Handle = batch.Handle(len(y.byHandle))
	y.byHandle = append(y.byHandle, a)
	y.engine.Admit(a.spec, batch.Forever)
	y.apply(&batch.Event{Kind: batch.Adopt, Spec: a.spec, Since: now}, a)
	y.engine.Pass()
	y.expire(a, now)
}

// end begins to end a started attempt; the first command counts.
func (y *system) end(a *attempt, how batch.End) {
	if a.ending != 0 || a.phase == batch.PhaseEnded {
		return
	}
	a.ending = how
	y.signal(a)
}

// signal makes the supervisor end a running attempt.
func (y *system) signal(a *attempt) {
	if a.phase != batch.PhaseRunning || a.ending == 0 {
		return
	}
	w := y.s.w
	w.after(w.between(batch.Microsecond, w.sc.launch), func() {
		if y.s.system == y && a.phase == batch.PhaseRunning {
			y.s.host.kill(a.key, a.ending)
		}
	})
}

// finish removes an attempt without a process.
func (y *system) finish(now batch.Time, a *attempt) {
	y.engine.Advance(now)
	a.phase = batch.PhaseEnded
	y.engine.Finish(a.spec.Handle)
	y.engine.Pass()
}
