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
	if p := s.between(d.Job); p != nil {
		return s.carryBetween(p, d, fault)
	}
	if d.Job <= batch.NoJob || int(d.Job) >= len(s.handles) || s.handles[d.Job] == nil {
		return fault(nil, fmt.Errorf("%w: no such job", ErrWrongState))
	}
	a := s.handles[d.Job]
	switch d.Kind {
	case batch.Start:
		if a.phase != batch.PhaseQueued || a.resumes() {
			return fault(a, ErrWrongState)
		}
		if !s.book(a, d.Allocation) {
			return fault(a, ErrNoCapacity)
		}
		s.start(now, a)
	case batch.Pause:
		if !a.running() || a.run.next != nil {
			return fault(a, ErrWrongState)
		}
		s.pause(now, a)
	case batch.Resume:
		again := a.phase == batch.PhaseQueued && a.resumes()
		if !again && (a.phase != batch.PhasePaused || a.run.allocation != nil) { // it has allocation until Stopped
			return fault(a, ErrWrongState)
		}
		was := a.run.ran
		if !s.book(a, d.Allocation) {
			return fault(a, ErrNoCapacity)
		}
		if !again && !s.neighbours(was, a.run.allocation) {
			return fault(a, fmt.Errorf("%w: it has no checkpoint to go on from on another host", ErrUnsupported))
		}
		if again {
			s.start(now, a)
		} else {
			s.resume(now, a)
		}
	case batch.SetShare:
		if err := s.setShare(now, a, d.Allocation); err != nil {
			return fault(a, err)
		}
	case batch.Migrate:
		if err := s.migrate(now, a, d.Allocation); err != nil {
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

// book gives a its processors: the allocation, or any.
func (s *System) book(a *attempt, allocation []batch.NodeAllocation) bool {
	if allocation == nil {
		allocation = s.alloc.PickFor(a.shape.Width, a.job.Memory)
	} else if !s.anyDown(allocation) && s.alloc.Take(allocation) {
		allocation = slices.Clone(allocation)
	} else {
		return false
	}
	if allocation == nil {
		return false
	}
	if a.run == nil {
		a.run = &run{done: a.job.Done}
	}
	a.run.allocation, a.run.ran = allocation, allocation
	return true
}

// start has an attempt launched that has its allocation. Its walltime counts from
// now, for so long the policy has booked it; that others hear of it as running is
// for its launch.
func (s *System) start(now batch.Time, a *attempt) {
	r := a.run
	if r.resumes != nil {
		r.resumes, r.again, r.awaited = nil, r.resumes, true
	}
	a.phase, r.started = batch.PhaseStarting, now
	s.holdMemory(a)
	r.since, r.share = now, lowest(r.allocation)
	s.timers.set(a, r.limit(a.shape.Walltime))
	s.changes.touch(a)
	s.active++
	go s.execute(a, toLaunch(a))
}

// holdMemory counts the memory of an attempt where it has its allocation, until its end:
// what is paused has it as well. On another node of its host it is on the same host.
func (s *System) holdMemory(a *attempt) {
	s.dropMemory(a.run)
	a.run.held, a.run.memory = a.run.allocation, a.job.Memory
	s.alloc.Hold(a.run.held, a.run.memory)
}

func (s *System) dropMemory(r *run) {
	s.alloc.Drop(r.held, r.memory)
	r.held = nil
}

func (s *System) pause(now batch.Time, a *attempt) {
	if a.run.proc == nil {
		a.run.stopping = true
		return
	}
	s.stop(now, a)
}

// stop pauses a launched attempt. One that has just ended, or is being ended,
// goes on to its Finish.
func (s *System) stop(now batch.Time, a *attempt) {
	if a.run.ending == 0 && a.run.how != nil {
		s.askPlace(now, a)
		return
	}
	if a.run.ending != 0 || !s.signal(a, syscall.SIGSTOP) {
		return
	}
	a.phase = batch.PhasePaused
	a.run.settle(now, 0)
	s.timers.set(a, batch.Never)
	s.paused = append(s.paused, a)
	s.changes.touch(a)
}

func (s *System) resume(now batch.Time, a *attempt) {
	a.phase = batch.PhaseRunning
	a.run.settle(now, lowest(a.run.allocation))
	if a.run.ending == 0 {
		s.timers.set(a, a.run.limit(a.shape.Walltime))
	}
	s.tell(a)
	if s.signal(a, syscall.SIGCONT) {
		s.resumed = append(s.resumed, a)
	}
	s.changes.touch(a)
}
