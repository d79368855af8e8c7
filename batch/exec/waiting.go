package exec

import "github.com/seed-9b8f70bb/drover/batch"

// confirm lets a reserved attempt wait like a submitted one.
func (s *System) confirm(now batch.Time, a *attempt) error {
	switch {
	case a.dropped:
		return refuse(a.key, ReasonNotWaiting, "it was cancelled while it was reserved")
	case a.phase != batch.PhaseReserved:
		return nil
	}
	a.phase = batch.PhaseQueued
	s.changes.touch(a)
	if !a.pending {
		s.apply(now, batch.Event{Kind: batch.Confirm, Job: a.job.Handle})
	}
	return nil
}

func (s *System) hold(now batch.Time, a *attempt) error {
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

// put lets a wait with a shape, as the last one or where it was. A job that the
// policy knows is not changed, even if only its shape has: the attempt has the
// shape that counts.
func (s *System) put(now batch.Time, a *attempt, shape batch.Shape, restore bool) {
	a.phase, a.shape, a.last = batch.PhaseQueued, shape, !restore
	if a.last {
		s.orders++
		a.order = s.orders
	}
	s.changes.touch(a)
	if a.pending {
		a.job.Shape = shape
		return
	}
	s.apply(now, batch.Event{Kind: batch.Place, Job: a.job.Handle, Shape: shape, Restore: restore})
}

// placeable refuses what is not a waiting or held attempt.
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
