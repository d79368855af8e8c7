package exec

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Do carries out commands in order, and returns after the scheduling pass that
// follows them. Submissions and reservations come last, behind jobs that a later
// command of the same call places last. Repeated commands change nothing: a
// submission or reservation whose key is known, the confirmation of what is
// confirmed, the release of what is not held, the same place again, the
// cancellation of what has ended.
// The refusals' reasons are the Reason constants. A ctx that ends before the
// loop takes the commands leaves all undone.
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

// command carries out the commands of one call. They reach the policy in the
// caller's order, except that submissions and reservations come last; see submit.
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
		return refuse(cmd.Key, ReasonBadCommand, "kind: %d, accepted: %d..%d", cmd.Kind, batch.CmdSubmit, batch.CmdCancel)
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

// accept makes an attempt of a submission or a reservation; submit tells the
// policy.
func (s *System) accept(cmd *batch.Command) error {
	if err := s.check(cmd); err != nil {
		return err
	}
	w, err := s.windowOf(cmd)
	if err != nil {
		return err
	}
	s.orders++
	a := &attempt{key: cmd.Key, order: s.orders, job: cmd.Job, shape: cmd.Job.Shape, phase: batch.PhaseQueued, pending: true}
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

// check is the edge at which bad input stops: the policy trusts what it is told.
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
		return refuse(cmd.Key, ReasonBadJob, "window: of a job, accepted: none, and Command.Into for the reservation it runs in")
	}
	return s.checkShape(cmd.Key, job.Shape, job.Memory)
}

// checkShape checks a shape for a job whose tasks need so much memory.
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

// submit tells the policy about the submissions and reservations of this pass,
// last of all. What else this pass has brought for one of them cannot come before
// it: a hold follows it, a place or a confirmation is in how it is submitted.
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
	if a.phase == batch.PhaseHeld || a.aside {
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
