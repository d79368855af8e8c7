package exec

import "github.com/seed-9b8f70bb/drover/batch"

// wanted is a command that the plan has to be asked about before it is told: a
// window, or a job with an agreement.
type wanted struct {
	cmd  *batch.Command
	call *call
}

// asksFirst says whether a command is one of those.
func (s *System) asksFirst(cmd *batch.Command) bool {
	if cmd.Job == nil || s.closing || s.retired {
		return false
	}
	window := cmd.Kind == batch.CmdReserve && cmd.Job.Window != nil
	agreed := cmd.Kind == batch.CmdSubmit && cmd.Job.Agreed && cmd.Into == (batch.Key{}) && s.parked[cmd.After] == nil
	return (window || agreed) && s.attempts[cmd.Key] == nil && s.windows[cmd.Key] == nil
}

// promise deals with what is wanted of the plan, each at an instant of its own,
// because a plan can only be asked when it has been made: nothing comes in between
// the answer and what follows from it. Other submissions come behind. It returns the
// instant that it has come to.
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

// take carries out a command if the plan holds what it is about.
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
		return refuse(cmd.Key, ReasonNoRoom, "window: %v..%v with %d processors, which the plan cannot set aside", w.Start, w.End, cmd.Job.Shape.Width)
	}
	s.setAside(now, cmd)
	return nil
}

// takeAgreed submits a job with an agreement. One that the plan cannot keep any more
// waits like any other job.
func (s *System) takeAgreed(now batch.Time, cmd *batch.Command) error {
	if err := s.check(cmd); err != nil {
		return err
	}
	if !s.holds(now, cmd.Job) {
		if cmd.Promise {
			return refuse(cmd.Key, ReasonNoRoom, "deadline: %v, which the plan cannot keep", cmd.Job.Deadline)
		}
		s.log.Warn("an agreement cannot be kept", "job", cmd.Key.Job, "deadline", wall(cmd.Job.Deadline))
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
