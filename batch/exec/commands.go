package exec

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Do carries out commands in order, and returns after the scheduling pass that follows.
// Submissions and reservations come last, behind jobs that a later command of the same call
// moves to the end of the queue. Repeated commands change nothing: a submission or
// reservation with a known key, the confirmation of a confirmed one, the release of one that
// is not held, the same Place, the cancellation of an ended one. Refusals have one of the
// Reason constants. If ctx ends before the loop takes the commands, none is carried out.
func (s *System) Do(ctx context.Context, cmds []batch.Command) error {
	c := &call{cmds: cmds, done: make(chan struct{})}
	select {
	case s.calls <- c:
		<-c.done
	case <-s.done:
		for i := range cmds {
			c.errs = append(c.errs, refuse(cmds[i].Key, ReasonClosed, "%w", ErrClosed))
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return errors.Join(c.errs...)
}

// command carries out the commands of one call. They reach the policy in the caller's order,
// except that submissions and reservations come last; see submit.
func (s *System) command(now batch.Time, c *call) {
	for i := range c.cmds {
		if cmd := &c.cmds[i]; s.asksFirst(cmd) {
			s.wanted = append(s.wanted, wanted{cmd, c})
		} else if err := s.carry(now, cmd); err != nil {
			c.errs = append(c.errs, err)
		}
	}
}

func (s *System) carry(now batch.Time, cmd *batch.Command) error {
	a := s.attempts[cmd.Key]
	if s.closing {
		return refuse(cmd.Key, ReasonClosed, "%w", ErrClosed)
	}
	if w := s.windows[cmd.Key]; w != nil {
		return s.carryWindow(now, w, cmd)
	}
	enters := cmd.Kind == batch.CmdSubmit || cmd.Kind == batch.CmdReserve
	switch {
	case cmd.Kind < batch.CmdSubmit || cmd.Kind > batch.CmdCancel:
		return refuse(cmd.Key, ReasonBadCommand, "kind: %d, accepted: %d..%d", cmd.Kind, batch.CmdSubmit,
			batch.CmdCancel)
	case cmd.Kind == batch.CmdSubmit && a != nil && a.phase == batch.PhaseReserved:
		return refuse(cmd.Key, ReasonNotWaiting, "it is reserved, which only a confirmation ends")
	case enters && a != nil:
		return nil
	case !enters && a == nil:
		return refuse(cmd.Key, ReasonUnknownJob, "no attempt %d of epoch %d", cmd.Key.Attempt, cmd.Key.Epoch)
	case cmd.Kind == batch.CmdCancel:
		s.cancel(now, a)
		return nil
	case s.retired:
		return refuse(cmd.Key, ReasonFaulted, "%w", s.Err())
	}
	switch cmd.Kind {
	case batch.CmdConfirm:
		return s.confirm(now, a)
	case batch.CmdHold:
		return s.hold(now, a)
	case batch.CmdRelease:
		s.release(now, a)
		return nil
	case batch.CmdPlace:
		return s.place(now, a, cmd)
	default:
		return s.accept(cmd)
	}
}

// accept turns a submission or a reservation into an attempt; submit passes it to the policy.
func (s *System) accept(cmd *batch.Command) error {
	if err := s.check(cmd); err != nil {
		return err
	}
	w, err := s.windowOf(cmd)
	if err != nil {
		return err
	}
	s.orders++
	a := &attempt{
		key: cmd.Key, order: s.orders, job: cmd.Job, shape: cmd.Job.Shape, phase: batch.PhaseQueued, pending: true,
	}
	if p := s.parked[cmd.After]; p != nil {
		delete(s.parked, cmd.After)
		a.run = &run{resumes: p}
	}
	if cmd.Kind == batch.CmdReserve {
		a.phase = batch.PhaseReserved
	}
	s.attempts[a.key] = a
	if w != nil {
		s.enter(a, w)
	}
	s.pending = append(s.pending, a)
	s.changes.touch(a)
	return nil
}

// check validates input at the edge: the policy trusts its input.
func (s *System) check(cmd *batch.Command) error {
	job := cmd.Job
	switch {
	case job == nil:
		return refuse(cmd.Key, ReasonBadJob, "job: missing")
	case job.Memory < 0:
		return refuse(cmd.Key, ReasonBadJob, "memory: %d, accepted: 0 (not known) or more", job.Memory)
	case job.CPU < 0 || job.CPU > batch.One:
		return refuse(cmd.Key, ReasonBadJob, "cpu: %d, accepted: 0..%d", job.CPU, batch.One)
	case job.Window != nil || job.Into != batch.NoJob:
		return refuse(cmd.Key, ReasonBadJob,
			"window: of a job, accepted: none, and Command.Into for the reservation it runs in")
	}
	return s.checkShape(cmd.Key, job.Shape, job.Memory)
}

// checkShape checks a shape for a job with tasks of that memory.
func (s *System) checkShape(key batch.Key, shape batch.Shape, memory int64) error {
	switch {
	case shape.Width < 1:
		return refuse(key, ReasonBadJob, "width: %d, accepted: 1..%d", shape.Width, s.width)
	case shape.Walltime < 1:
		return refuse(key, ReasonBadJob, "walltime: %v, accepted: more than 0s", shape.Walltime)
	}
	if charge := batch.Charge(shape.Width, memory, s.memory); charge > s.width {
		return refuse(key, ReasonTooWide, "width: %d (with its memory %d processors), accepted: 1..%d",
			shape.Width, charge, s.width)
	}
	return nil
}

// submit passes the submissions and reservations of this pass to the policy, last of all.
// Other commands of this pass about one of them need no order: a hold follows it, and a Place
// or a confirmation changes how it is submitted.
func (s *System) submit(now batch.Time) {
	slices.SortFunc(s.pending, func(a, b *attempt) int { return cmp.Compare(a.order, b.order) })
	for _, a := range s.pending {
		s.submitOne(now, a)
	}
	clear(s.pending)
	s.pending = s.pending[:0]
}

func (s *System) submitOne(now batch.Time, a *attempt) {
	a.pending = false
	s.orders++
	a.order = s.orders // behind those that this pass has placed last
	switch {
	case !a.live() && a.resumes():
		s.drop(now, a.run.resumes)
		return
	case !a.live():
		return
	case a.resumes():
		s.unpark(now, a, a.run.resumes)
		return
	}
	a.job.Handle = s.handle(a)
	kind := batch.Submit
	if a.phase == batch.PhaseReserved {
		kind = batch.Reserve
	}
	s.apply(now, batch.Event{Kind: kind, Job: a.job.Handle, Spec: a.job})
	if a.phase == batch.PhaseHeld || a.heldReserved {
		s.apply(now, batch.Event{Kind: batch.Hold, Job: a.job.Handle})
	}
}

func (s *System) handle(a *attempt) batch.Handle {
	if last := len(s.unused) - 1; last >= 0 {
		h := s.unused[last]
		s.unused = s.unused[:last]
		s.handles[h] = a
		return h
	}
	s.handles = append(s.handles, a)
	return batch.Handle(len(s.handles) - 1)
}

func (s *System) cancel(now batch.Time, a *attempt) {
	const why = "cancelled"
	if !a.live() {
		if p := s.parked[a.key]; p != nil {
			delete(s.parked, a.key)
			s.drop(now, p)
		}
		return
	}
	if !a.waits() {
		s.end(now, a, batch.EndCancelled, why)
		return
	}
	if !a.pending {
		s.apply(now, batch.Event{Kind: batch.Cancel, Job: a.job.Handle})
	}
	a.dropped = a.phase == batch.PhaseReserved
	s.over(now, a, batch.Outcome{End: batch.EndCancelled, Reason: why})
}

// confirm queues a reserved attempt like a submitted one.
func (s *System) confirm(now batch.Time, a *attempt) error {
	switch {
	case a.dropped:
		return refuse(a.key, ReasonNotWaiting, "it was cancelled while it was reserved")
	case a.phase != batch.PhaseReserved:
		return nil
	}
	ev := batch.Event{Kind: batch.Confirm}
	if a.heldReserved {
		ev = batch.Event{Kind: batch.Place, Shape: a.shape, Restore: true}
	}
	a.phase, a.heldReserved = batch.PhaseQueued, false
	s.changes.touch(a)
	if !a.pending {
		ev.Job = a.job.Handle
		s.apply(now, ev)
	}
	return nil
}

// hold takes an attempt out of the plan. A reserved one stays reserved: only a confirmation
// puts it back.
func (s *System) hold(now batch.Time, a *attempt) error {
	if a.phase == batch.PhaseReserved {
		if !a.heldReserved && !a.pending {
			s.apply(now, batch.Event{Kind: batch.Hold, Job: a.job.Handle})
		}
		a.heldReserved = true
		return nil
	}
	if err := placeable(a); err != nil || a.phase == batch.PhaseHeld {
		return err
	}
	a.phase = batch.PhaseHeld
	s.changes.touch(a)
	if !a.pending {
		s.apply(now, batch.Event{Kind: batch.Hold, Job: a.job.Handle})
	}
	return nil
}

func (s *System) release(now batch.Time, a *attempt) {
	if a.phase == batch.PhaseHeld {
		s.put(now, a, a.shape, true)
	}
}

func (s *System) place(now batch.Time, a *attempt, cmd *batch.Command) error {
	if err := placeable(a); err != nil {
		return err
	}
	if err := s.checkShape(a.key, cmd.Shape, a.job.Memory); err != nil {
		return err
	}
	again := a.phase == batch.PhaseQueued && a.shape == cmd.Shape && a.last != cmd.Restore
	if !again {
		s.put(now, a, cmd.Shape, cmd.Restore)
	}
	return nil
}

// put queues a with a shape, last or at its former position. A job that the policy knows is
// never modified, even if only its shape changes: the shape of the attempt counts.
func (s *System) put(now batch.Time, a *attempt, shape batch.Shape, restore bool) {
	a.phase, a.shape, a.last = batch.PhaseQueued, shape, !restore
	if a.last {
		s.orders++
		a.order = s.orders
	}
	s.changes.touch(a)
	if a.pending {
		job := *a.job // the caller may read its own copy
		job.Shape = shape
		a.job = &job
		return
	}
	s.apply(now, batch.Event{Kind: batch.Place, Job: a.job.Handle, Shape: shape, Restore: restore})
}

// placeable refuses an attempt that is neither waiting nor held.
func placeable(a *attempt) error {
	switch a.phase {
	case batch.PhaseQueued, batch.PhaseHeld:
		return nil
	case batch.PhaseReserved:
		return refuse(a.key, ReasonNotWaiting, "it is reserved and not confirmed")
	case batch.PhaseEnded:
		return refuse(a.key, ReasonNotWaiting, "it has ended")
	default:
		return refuse(a.key, ReasonNotWaiting, "it has started")
	}
}

// wanted is a command that needs an answer from the plan first: a window, or a job with an
// agreement.
type wanted struct {
	cmd  *batch.Command
	call *call
}

// asksFirst reports whether a command is one of those.
func (s *System) asksFirst(cmd *batch.Command) bool {
	if cmd.Job == nil || s.closing || s.retired {
		return false
	}
	window := cmd.Kind == batch.CmdReserve && cmd.Job.Window != nil
	agreed := cmd.Kind == batch.CmdSubmit && cmd.Job.Agreed && cmd.Into == (batch.Key{}) && s.parked[cmd.After] == nil
	return (window || agreed) && s.attempts[cmd.Key] == nil && s.windows[cmd.Key] == nil
}

// promise carries out the commands that need an answer from the plan, each at an instant of
// its own, because a plan can only be asked when it is complete: nothing comes between the
// answer and its consequence. Other submissions come behind. It returns the instant it has
// reached.
func (s *System) promise(now batch.Time) batch.Time {
	for i := range s.wanted {
		w := &s.wanted[i]
		if s.applied || !s.retired && s.wake <= now {
			if !s.retired {
				s.decide(now)
			}
			s.applied, now = false, s.tick()
		}
		if err := s.take(now, w.cmd); err != nil {
			w.call.errs = append(w.call.errs, err)
		}
	}
	clear(s.wanted)
	s.wanted = s.wanted[:0]
	return now
}

// take carries out a command if it fits into the plan.
func (s *System) take(now batch.Time, cmd *batch.Command) error {
	switch {
	case s.retired:
		return refuse(cmd.Key, ReasonFaulted, "%w", s.Err())
	case s.attempts[cmd.Key] != nil || s.windows[cmd.Key] != nil: // it came twice in this pass
		return nil
	case cmd.Kind == batch.CmdSubmit:
		return s.takeAgreed(now, cmd)
	case !s.caps.Reservations:
		return refuse(cmd.Key, ReasonUnsupported, "this policy sets no windows aside")
	}
	if err := s.checkWindow(now, cmd); err != nil {
		return err
	}
	if w := cmd.Job.Window; !s.holds(now, cmd.Job) {
		return refuse(cmd.Key, ReasonNoRoom, "window: %v..%v with %d processors, which the plan cannot set aside",
			w.Start, w.End, cmd.Job.Shape.Width)
	}
	s.addWindow(now, cmd)
	return nil
}

// takeAgreed submits a job with an agreement. If the plan can no longer keep the agreement,
// the job waits like any other.
func (s *System) takeAgreed(now batch.Time, cmd *batch.Command) error {
	if err := s.check(cmd); err != nil {
		return err
	}
	if !s.holds(now, cmd.Job) {
		if cmd.Promise {
			return refuse(cmd.Key, ReasonNoRoom, "deadline: %v, which the plan cannot keep", cmd.Job.Deadline)
		}
		s.log.Warn("agreement cannot be kept", "job", cmd.Key.Job, "deadline", wall(cmd.Job.Deadline))
		cmd.Job.Agreed = false
		return s.accept(cmd)
	}
	if err := s.accept(cmd); err != nil {
		return err
	}
	s.submitOne(now, s.pending[len(s.pending)-1])
	s.pending = s.pending[:len(s.pending)-1]
	return nil
}
