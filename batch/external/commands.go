package external

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Do records the desired states and returns. The control loop asks the cluster
// afterwards and Watch reports the results, so a cluster that does not answer neither
// delays nor loses a command. Attempts in the local queue change at once.
func (s *System) Do(ctx context.Context, cmds []batch.Command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range cmds {
		if err := s.carryOut(&cmds[i]); err != nil {
			errs = append(errs, err)
		}
	}
	s.model.pass()
	s.submitReady()
	return errors.Join(errs...)
}

func (s *System) carryOut(cmd *batch.Command) error {
	a := s.attempts[cmd.Key]
	enters := cmd.Kind == batch.CmdSubmit || cmd.Kind == batch.CmdReserve
	switch {
	case s.closed:
		return refuse(cmd.Key, ReasonClosed, "%w", ErrClosed)
	case cmd.Kind < batch.CmdSubmit || cmd.Kind > batch.CmdCancel:
		return refuse(cmd.Key, ReasonBadCommand, "kind: %d", cmd.Kind)
	case enters && a != nil:
		return checkRepeated(a, cmd)
	case enters:
		return s.enter(cmd)
	case a == nil:
		return refuse(cmd.Key, ReasonUnknownJob, "no attempt %d of epoch %d", cmd.Key.Attempt, cmd.Key.Epoch)
	}
	switch cmd.Kind {
	case batch.CmdConfirm:
		return s.confirm(a)
	case batch.CmdHold:
		return s.hold(a)
	case batch.CmdRelease:
		if a.desired == wantHeld {
			s.put(a, a.shape, true)
		}
		return nil
	case batch.CmdPlace:
		return s.place(a, cmd)
	default:
		s.cancel(a)
		return nil
	}
}

// checkRepeated handles a submission or reservation of a known attempt, which changes
// nothing: a restarted server submits again what it adopted.
func checkRepeated(a *attempt, cmd *batch.Command) error {
	if cmd.Kind == batch.CmdSubmit && a.phase == batch.PhaseReserved {
		return refuse(cmd.Key, ReasonNotWaiting, "it is reserved; only a confirmation ends that")
	}
	return nil
}

func (s *System) enter(cmd *batch.Command) error {
	if err := checkJob(cmd); err != nil {
		return err
	}
	s.lastPosition++
	a := &attempt{
		key: cmd.Key, position: s.lastPosition, arrival: s.lastPosition, job: cmd.Job, shape: cmd.Job.Shape,
		desired: wantRun, stage: local, phase: batch.PhaseQueued, since: s.base,
	}
	if cmd.Kind == batch.CmdReserve {
		a.desired, a.phase = wantReserved, batch.PhaseReserved
	}
	s.attempts[a.key] = a
	s.enterQueue(a)
	s.changes.touch(a)
	s.model.enter(a)
	s.recognize(a)
	return nil
}

// recognize looks for an attempt in the last poll: a restarted server submits waiting
// jobs again, and the cluster may have them.
func (s *System) recognize(a *attempt) {
	if !s.view.first {
		return
	}
	for i := range s.view.jobs {
		j := &s.view.jobs[i]
		if key, ok := Identify(s.cfg.Site, j.Name, j.Comment); ok && key == a.key {
			s.observe(a, j, Progress{})
			return
		}
	}
}

func checkJob(cmd *batch.Command) error {
	job, id := cmd.Job, string(cmd.Key.Job)
	switch {
	case job == nil:
		return refuse(cmd.Key, ReasonBadJob, "job: missing")
	case id == "" || sanitize(id) != id || strings.Contains(id, "/"):
		return refuse(cmd.Key, ReasonBadJob, "job ID: %.70q, accepted: letters, digits and dashes", id)
	case job.Window != nil || job.Into != batch.NoJob:
		return refuse(cmd.Key, ReasonUnsupported, "window: this site takes no reservations")
	}
	return checkShape(cmd.Key, job.Shape)
}

func checkShape(key batch.Key, shape batch.Shape) error {
	switch {
	case shape.Width < 1 || shape.Width > batch.MaxProcessors:
		return refuse(key, ReasonBadJob, "width: %d, accepted: 1..%d", shape.Width, batch.MaxProcessors)
	case shape.Walltime < 1:
		return refuse(key, ReasonBadJob, "walltime: %v, accepted: more than 0s", shape.Walltime)
	}
	return nil
}

func (s *System) confirm(a *attempt) error {
	switch {
	case a.desired == wantCancelled || a.stage == over:
		return refuse(a.key, ReasonNotWaiting, "it was cancelled while it was reserved")
	case a.phase != batch.PhaseReserved:
		return nil
	}
	a.desired, a.phase = wantRun, batch.PhaseQueued
	s.changes.touch(a)
	s.model.confirm(a, a.heldReserved)
	a.heldReserved = false
	return nil
}

func (s *System) hold(a *attempt) error {
	if a.phase == batch.PhaseReserved {
		if !a.heldReserved {
			s.model.hold(a)
		}
		a.heldReserved = true
		return nil
	}
	if err := checkWaits(a); err != nil || a.desired == wantHeld {
		return err
	}
	a.desired = wantHeld
	s.model.hold(a)
	if a.stage == local {
		a.phase = batch.PhaseHeld
		s.changes.touch(a)
	}
	s.schedule(a)
	return nil
}

func (s *System) place(a *attempt, cmd *batch.Command) error {
	if err := checkWaits(a); err != nil {
		return err
	}
	if err := checkShape(a.key, cmd.Shape); err != nil {
		return err
	}
	if repeated := a.desired == wantRun && a.shape == cmd.Shape && a.placedLast != cmd.Restore; !repeated {
		s.put(a, cmd.Shape, cmd.Restore)
	}
	return nil
}

// put queues an attempt with a shape, last or at its arrival's position. A cluster
// cannot insert a job between others, and a script depends on its width: an attempt
// with another shape is cancelled there and submitted again.
func (s *System) put(a *attempt, shape batch.Shape, restore bool) {
	a.desired, a.shape, a.placedLast = wantRun, shape, !restore
	if a.stage == local {
		s.leaveQueue(a)
		a.phase = batch.PhaseQueued
	}
	a.position = a.arrival
	if a.placedLast {
		s.lastPosition++
		a.position = s.lastPosition
	}
	if a.stage == local {
		s.enterQueue(a)
	}
	a.resubmit = a.stage != local && !s.sameInCluster(shape, a.sent)
	s.changes.touch(a)
	s.model.place(a, restore)
	s.schedule(a)
}

// sameInCluster reports whether two shapes are the same to the cluster, which rounds
// walltimes.
func (s *System) sameInCluster(a, b batch.Shape) bool {
	return a.Width == b.Width && s.cluster.Limit(a.Walltime) == s.cluster.Limit(b.Walltime)
}

func (s *System) cancel(a *attempt) {
	if !a.live() || a.desired == wantCancelled {
		return
	}
	a.desired = wantCancelled
	if a.stage == local {
		s.finishCancelled(a)
		return
	}
	s.model.leave(a.key)
	s.schedule(a)
}

// checkWaits refuses an attempt that is not known to be queued or held.
func checkWaits(a *attempt) error {
	switch {
	case a.phase == batch.PhaseReserved:
		return refuse(a.key, ReasonNotWaiting, "it is reserved and not confirmed")
	case a.phase == batch.PhaseEnded || a.desired == wantCancelled:
		return refuse(a.key, ReasonNotWaiting, "it has ended, or is being cancelled")
	case !a.waits():
		return refuse(a.key, ReasonNotWaiting, "it has started")
	}
	return nil
}

// enterQueue adds an attempt to the local queue by its position.
func (s *System) enterQueue(a *attempt) {
	i, _ := s.indexOf(a)
	s.queue = slices.Insert(s.queue, i, a)
}

// leaveQueue removes an attempt from the local queue if it is there.
func (s *System) leaveQueue(a *attempt) {
	if i, found := s.indexOf(a); found && s.queue[i] == a {
		s.queue = slices.Delete(s.queue, i, i+1)
	}
}

func (s *System) indexOf(a *attempt) (int, bool) {
	return slices.BinarySearchFunc(s.queue, a.position, func(b *attempt, position uint64) int {
		return cmp.Compare(b.position, position)
	})
}

func compareKeys(a, b batch.Key) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Attempt, b.Attempt))
}
