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
	ev := batch.Event{Kind: batch.Confirm}
	if a.aside {
		ev = batch.Event{Kind: batch.Place, Shape: a.shape, Restore: true}
	}
	a.phase, a.aside = batch.PhaseQueued, false
	s.changes.touch(a)
	if !a.pending {
		ev.Job = a.job.Handle
		s.apply(now, ev)
	}
	return nil
}

// hold keeps an attempt out of the plan. A reserved one stays reserved: only a
// confirmation puts it back.
func (s *System) hold(now batch.Time, a *attempt) error {
	if a.phase == batch.PhaseReserved {
		if !a.aside && !a.pending {
			s.apply(now, batch.Event{Kind: batch.Hold, Job: a.job.Handle})
		}
		a.aside = true
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
		job := *a.job // the caller may look at his own
		job.Shape = shape
		a.job = &job
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
