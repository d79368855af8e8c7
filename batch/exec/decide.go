package exec

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch"
)

// decide asks the policy for a scheduling pass and carries it out.
func (s *System) decide(now batch.Time) {
	s.out.Reset()
	s.policy.Decide(now, &s.out)
	for _, d := range s.out.List {
		if err := s.carryOut(now, d); err != nil {
			s.fail(err)
			return
		}
	}
	s.wake = s.policy.Wake()
}

// carryOut does what d says, or returns a *DecisionError.
func (s *System) carryOut(now batch.Time, d batch.Decision) error {
	fault := func(a *attempt, err error) error {
		e := &DecisionError{Decision: d.Kind, Handle: d.Job, Err: err}
		if a != nil {
			e.Key = a.key
		}
		return e
	}
	if d.Job <= batch.NoJob || int(d.Job) >= len(s.handles) || s.handles[d.Job] == nil {
		return fault(nil, fmt.Errorf("%w: no such job", ErrWrongState))
	}
	a := s.handles[d.Job]
	switch d.Kind {
	case batch.Start:
		if a.phase != batch.PhaseQueued {
			return fault(a, ErrWrongState)
		}
		if !s.book(a, d.Places) {
			return fault(a, ErrNoCapacity)
		}
		s.start(now, a)
	case batch.Pause:
		if a.phase != batch.PhaseRunning {
			return fault(a, ErrWrongState)
		}
		s.pause(now, a)
	case batch.Resume:
		if a.phase != batch.PhasePaused || a.places != nil { // it has places until Stopped
			return fault(a, ErrWrongState)
		}
		if !s.book(a, d.Places) {
			return fault(a, ErrNoCapacity)
		}
		s.resume(now, a)
	case batch.SetShare:
		if err := s.setShare(now, a, d.Places); err != nil {
			return fault(a, err)
		}
	case batch.Kill:
		if a.waits() {
			return fault(a, ErrWrongState)
		}
		s.end(now, a, batch.EndKilled, "ended by the policy")
	default:
		return fault(a, ErrUnsupported)
	}
	return nil
}

// book gives a its processors: the places, or any.
func (s *System) book(a *attempt, places []batch.Location) bool {
	if places == nil {
		a.places = s.alloc.Pick(a.shape.Width)
	} else if s.alloc.Take(places) {
		a.places = slices.Clone(places)
	}
	if a.places == nil {
		return false
	}
	a.nodes = s.nodesOf(a.places)
	return true
}

func (s *System) start(now batch.Time, a *attempt) {
	a.phase, a.started = batch.PhaseRunning, now
	a.since, a.share = now, lowest(a.places)
	s.timers.set(a, a.limit())
	s.changes.touch(a)
	s.active++
	go s.execute(a, s.spec(a))
}

// execute is the goroutine of one attempt.
func (s *System) execute(a *attempt, spec Spec) {
	proc, err := s.launcher.Launch(spec)
	if err != nil {
		s.notes <- note{attempt: a, err: err}
		return
	}
	s.notes <- note{attempt: a, proc: proc}
	s.notes <- note{attempt: a, exit: proc.Wait()}
}

func (s *System) pause(now batch.Time, a *attempt) {
	if a.proc == nil {
		a.stopping = true
		return
	}
	s.stop(now, a)
}

// stop pauses a launched attempt. One that has just ended, or is being ended,
// goes on to its Finish.
func (s *System) stop(now batch.Time, a *attempt) {
	if a.ending != 0 || !s.signal(a, syscall.SIGSTOP) {
		return
	}
	a.phase = batch.PhasePaused
	a.settle(now, 0)
	s.timers.set(a, batch.Never)
	s.paused = append(s.paused, a)
	s.changes.touch(a)
}

func (s *System) resume(now batch.Time, a *attempt) {
	a.phase = batch.PhaseRunning
	a.settle(now, lowest(a.places))
	if a.ending == 0 {
		s.timers.set(a, a.limit())
	}
	s.signal(a, syscall.SIGCONT)
	s.changes.touch(a)
}

// setShare books the new shares. The places must be those it has.
func (s *System) setShare(now batch.Time, a *attempt, places []batch.Location) error {
	same := a.phase == batch.PhaseRunning && slices.EqualFunc(a.places, places, func(l, m batch.Location) bool {
		return l.Node == m.Node && l.Processors == m.Processors && l.Group == m.Group
	})
	if !same {
		return ErrWrongState
	}
	s.alloc.Release(a.places)
	if !s.alloc.Take(places) {
		s.alloc.Take(a.places)
		return ErrNoCapacity
	}
	a.places = slices.Clone(places)
	a.settle(now, lowest(a.places))
	if a.ending == 0 {
		s.timers.set(a, a.limit())
	}
	return nil
}
