package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The reasons of a *batch.CommandError.
const (
	ReasonUnknownJob  = "unknown-job"
	ReasonBadJob      = "bad-job"
	ReasonBadCommand  = "bad-command"
	ReasonUnsupported = "unsupported"
	ReasonNotWaiting  = "not-waiting"
	ReasonClosed      = "closed"
)

// Do notes what is wanted, and returns: Slurm is asked afterwards, and told what
// became of it by Watch. So no command waits for a controller that does not answer,
// and none is lost with it. What waits here and not yet in Slurm is changed at once.
func (s *System) Do(ctx context.Context, cmds []batch.Command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range cmds {
		if err := s.carry(&cmds[i]); err != nil {
			errs = append(errs, err)
		}
	}
	s.model.pass()
	s.send()
	return errors.Join(errs...)
}

func (s *System) carry(cmd *batch.Command) error {
	a := s.attempts[cmd.Key]
	enters := cmd.Kind == batch.CmdSubmit || cmd.Kind == batch.CmdReserve
	switch {
	case s.closed:
		return refuse(cmd.Key, ReasonClosed, "%w", ErrClosed)
	case cmd.Kind < batch.CmdSubmit || cmd.Kind > batch.CmdCancel:
		return refuse(cmd.Key, ReasonBadCommand, "kind: %d", cmd.Kind)
	case enters && a != nil:
		return s.repeated(a, cmd)
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
		if a.want == toHold {
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

// repeated is a submission or a reservation of an attempt that is known. One that
// was adopted is submitted again by a server that has it waiting: it keeps its
// place.
func (s *System) repeated(a *attempt, cmd *batch.Command) error {
	if cmd.Kind == batch.CmdSubmit && a.phase == batch.PhaseReserved {
		return refuse(cmd.Key, ReasonNotWaiting, "it is reserved, which only a confirmation ends")
	}
	return nil
}

func (s *System) enter(cmd *batch.Command) error {
	if err := checkJob(cmd); err != nil {
		return err
	}
	s.orders++
	a := &attempt{
		key: cmd.Key, order: s.orders, first: s.orders, job: cmd.Job, shape: cmd.Job.Shape,
		want: toRun, stage: outside, phase: batch.PhaseQueued, since: s.base,
	}
	if cmd.Kind == batch.CmdReserve {
		a.want, a.phase = toReserve, batch.PhaseReserved
	}
	s.attempts[a.key] = a
	s.enterQueue(a)
	s.changes.touch(a)
	s.model.enter(a)
	// It may be in Slurm already: a server that starts again submits what waits.
	s.recognise(a)
	return nil
}

// checkJob is the edge at which bad input stops.
func checkJob(cmd *batch.Command) error {
	job := cmd.Job
	switch {
	case job == nil:
		return refuse(cmd.Key, ReasonBadJob, "job: missing")
	case cmd.Key.Job == "" || plain(string(cmd.Key.Job)) != string(cmd.Key.Job) || strings.Contains(string(cmd.Key.Job), "/"):
		return refuse(cmd.Key, ReasonBadJob, "job ID: %.70q, accepted: letters, digits and dashes", cmd.Key.Job)
	case job.Window != nil || job.Into != batch.NoJob:
		return refuse(cmd.Key, ReasonUnsupported, "window: Slurm is asked for none here")
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
	case a.want == toCancel || a.stage == over:
		return refuse(a.key, ReasonNotWaiting, "it was cancelled while it was reserved")
	case a.phase != batch.PhaseReserved:
		return nil
	}
	a.want, a.phase = toRun, batch.PhaseQueued
	s.changes.touch(a)
	s.model.confirm(a, a.aside)
	a.aside = false
	return nil
}

func (s *System) hold(a *attempt) error {
	if a.phase == batch.PhaseReserved {
		if !a.aside {
			s.model.hold(a)
		}
		a.aside = true
		return nil
	}
	if err := placeable(a); err != nil || a.want == toHold {
		return err
	}
	a.want = toHold
	s.model.hold(a)
	if a.stage == outside {
		a.phase = batch.PhaseHeld
		s.changes.touch(a)
	}
	s.consider(a)
	return nil
}

func (s *System) place(a *attempt, cmd *batch.Command) error {
	if err := placeable(a); err != nil {
		return err
	}
	if err := checkShape(a.key, cmd.Shape); err != nil {
		return err
	}
	if again := a.want == toRun && a.shape == cmd.Shape && a.last != cmd.Restore; !again {
		s.put(a, cmd.Shape, cmd.Restore)
	}
	return nil
}

// put lets a wait with a shape, as the last one or where it was. Slurm has no way
// to put a job between others, and tells a job's script what it was submitted with:
// one that gets another shape is taken out and submitted anew.
func (s *System) put(a *attempt, shape batch.Shape, restore bool) {
	a.want, a.shape, a.last = toRun, shape, !restore
	if a.stage == outside {
		s.leaveQueue(a)
		a.phase = batch.PhaseQueued
	}
	a.order = a.first
	if a.last {
		s.orders++
		a.order = s.orders
	}
	if a.stage == outside {
		s.enterQueue(a)
	}
	a.again = a.stage != outside && Limit(shape.Walltime) != Limit(a.sent.Walltime) || a.stage != outside && shape.Width != a.sent.Width
	s.changes.touch(a)
	s.model.place(a, restore)
	s.consider(a)
}

func (s *System) cancel(a *attempt) {
	if !a.live() || a.want == toCancel {
		return
	}
	a.want = toCancel
	if a.stage == outside {
		s.finish(a, time.Now(), batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"})
		return
	}
	s.model.leave(a.key)
	s.consider(a)
}

// placeable refuses what is not a waiting or held attempt, as far as is known.
func placeable(a *attempt) error {
	switch {
	case a.phase == batch.PhaseReserved:
		return refuse(a.key, ReasonNotWaiting, "it is reserved and not confirmed")
	case a.phase == batch.PhaseEnded || a.want == toCancel:
		return refuse(a.key, ReasonNotWaiting, "it has ended, or is being cancelled")
	case !a.waits():
		return refuse(a.key, ReasonNotWaiting, "it has started")
	}
	return nil
}

// enterQueue and leaveQueue keep who waits here in order.
func (s *System) enterQueue(a *attempt) {
	i, _ := slices.BinarySearchFunc(s.outside, a.order, func(b *attempt, order uint64) int { return cmp.Compare(b.order, order) })
	s.outside = slices.Insert(s.outside, i, a)
}

func (s *System) leaveQueue(a *attempt) {
	i, found := slices.BinarySearchFunc(s.outside, a.order, func(b *attempt, order uint64) int { return cmp.Compare(b.order, order) })
	if found && s.outside[i] == a {
		s.outside = slices.Delete(s.outside, i, i+1)
	}
}

func refuse(key batch.Key, reason, format string, args ...any) *batch.CommandError {
	return &batch.CommandError{Key: key, Reason: reason, Err: fmt.Errorf(format, args...)}
}

func compareKeys(a, b batch.Key) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Attempt, b.Attempt))
}
