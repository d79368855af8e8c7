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

// carryOut carries out d, or returns a *DecisionError.
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
		// it holds its allocation until Stopped
		if !again && (a.phase != batch.PhasePaused || a.run.allocation != nil) {
			return fault(a, ErrWrongState)
		}
		was := a.run.ran
		if !s.book(a, d.Allocation) {
			return fault(a, ErrNoCapacity)
		}
		if !again && !s.sameHosts(was, a.run.allocation) {
			return fault(a, fmt.Errorf("%w: it has no checkpoint to continue from on another host", ErrUnsupported))
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

// book books the given allocation for a, or any.
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

// start launches an attempt that has its allocation. Its walltime counts from now, because
// the policy has booked it from now; it is reported as running after the launch.
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
	go s.execute(a, launchSpecOf(a))
}

// holdMemory counts the memory of an attempt on its allocation until its end, also while it
// is paused. A move among nodes of one host does not change it.
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

// stop pauses a launched attempt. One that has just ended, or is being ended, proceeds to its
// Finish.
func (s *System) stop(now batch.Time, a *attempt) {
	if a.run.ending == 0 && a.run.how != nil {
		s.requestCheckpoint(now, a)
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
	s.applyShares(a)
	if s.signal(a, syscall.SIGCONT) {
		s.resumed = append(s.resumed, a)
	}
	s.changes.touch(a)
}

// setShare books the new shares and applies them to the process. The allocation must be the
// one it has, or moves to.
func (s *System) setShare(now batch.Time, a *attempt, allocation []batch.NodeAllocation) error {
	if !a.running() || !sameAllocation(a.run.has(), allocation) {
		return ErrWrongState
	}
	r := a.run
	if !s.rebook(r.has(), allocation) {
		return ErrNoCapacity
	}
	allocation = slices.Clone(allocation)
	if r.next != nil && r.how != nil {
		r.next = allocation // the old one applies until the move is done
		return nil
	}
	if r.next != nil {
		r.next = allocation
	} else {
		r.allocation, r.ran = allocation, allocation
	}
	r.settle(now, lowest(allocation))
	if r.ending == 0 {
		s.timers.set(a, r.limit(a.shape.Walltime))
	}
	s.applyShares(a)
	return nil
}

// rebook books allocation instead of booked, or changes nothing.
func (s *System) rebook(booked, allocation []batch.NodeAllocation) bool {
	s.alloc.Release(booked)
	if s.alloc.Take(allocation) {
		return true
	}
	s.alloc.Take(booked)
	return false
}

// sameAllocation reports whether two allocations differ only in their shares.
func sameAllocation(a, b []batch.NodeAllocation) bool {
	return slices.EqualFunc(a, b, func(l, m batch.NodeAllocation) bool {
		return l.Node == m.Node && l.Processors == m.Processors && l.Group == m.Group
	})
}

// applyShares applies the allocation to a process that is a Sharer.
func (s *System) applyShares(a *attempt) {
	sharer, able := a.run.proc.(Sharer)
	if !able {
		return
	}
	err := sharer.SetShares(a.run.has())
	if err != nil && !a.run.unshared {
		s.log.Warn("set shares failed", "job", a.key.Job, "error", err)
	}
	a.run.unshared = err != nil
}

// migrate begins to move a running attempt. With a checkpoint the program is asked to stop,
// and the next attempt is launched at the target. Without one its process is moved, which
// only virtual nodes of one host allow.
func (s *System) migrate(now batch.Time, a *attempt, to []batch.NodeAllocation) error {
	r := a.run
	if !a.running() || r.next != nil || tasks(to) != tasks(r.allocation) {
		return ErrWrongState
	}
	// One that is not launched yet may turn out to have a checkpoint.
	if r.proc != nil && r.how == nil && !s.sameHosts(r.allocation, to) {
		return fmt.Errorf("%w: it has no checkpoint to continue from on another host", ErrUnsupported)
	}
	leaves, err := s.bookMove(r.allocation, to)
	if err != nil {
		return err
	}
	r.allocation, r.next, r.stopping = leaves, slices.Clone(to), false
	if r.proc != nil {
		s.move(now, a)
	}
	return nil
}

// move continues the move of an attempt that has been launched. One that is being ended
// proceeds to its Finish.
func (s *System) move(now batch.Time, a *attempt) {
	switch {
	case a.run.ending != 0:
	case a.run.how != nil:
		s.requestCheckpoint(now, a)
	case !s.sameHosts(a.run.ran, a.run.next):
		s.fail(&DecisionError{
			Decision: batch.Migrate, Handle: a.job.Handle, Key: a.key,
			Err: fmt.Errorf("%w: it has no checkpoint to continue from on another host", ErrUnsupported),
		})
	default:
		a.run.settle(now, lowest(a.run.next))
		s.timers.set(a, a.run.limit(a.shape.Walltime))
		s.applyShares(a)
		s.moving = append(s.moving, a)
	}
}

// arrive frees the old allocation of attempts that were moved while running, and informs the
// policy.
func (s *System) arrive(now batch.Time) {
	for _, a := range s.moving {
		if !a.live() || a.run.next == nil {
			continue
		}
		r := a.run
		s.alloc.Release(r.allocation)
		r.allocation, r.ran, r.next = r.next, r.next, nil
		r.settle(now, r.share)
		s.changes.touch(a)
		s.apply(now, batch.Event{Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: true, Progress: r.done + r.work})
		s.apply(now, batch.Event{Kind: batch.Resumed, Job: a.job.Handle})
	}
	clear(s.moving)
	s.moving = s.moving[:0]
}

// between returns the parked state of a job that is between two attempts; nil for any other.
func (s *System) between(h batch.Handle) *parked {
	for _, p := range s.parked {
		if p.job.Handle == h {
			return p
		}
	}
	return nil
}

// carryBetween carries out a decision about a job that is between two attempts and runs as
// far as the policy knows.
func (s *System) carryBetween(p *parked, d batch.Decision, fault func(*attempt, error) error) error {
	has := &p.allocation
	if p.next != nil {
		has = &p.next
	}
	switch {
	case d.Kind == batch.Pause && p.next == nil: // it has stopped
	case d.Kind == batch.SetShare && sameAllocation(*has, d.Allocation):
		if !s.rebook(*has, d.Allocation) {
			return fault(nil, ErrNoCapacity)
		}
		*has = slices.Clone(d.Allocation)
	case d.Kind == batch.Migrate && p.next == nil && tasks(d.Allocation) == tasks(p.allocation):
		leaves, err := s.bookMove(p.allocation, d.Allocation)
		if err != nil {
			return fault(nil, err)
		}
		p.allocation, p.next = leaves, slices.Clone(d.Allocation)
	default:
		return fault(nil, ErrWrongState)
	}
	return nil
}

// bookMove books the target of a move, less what it shares with the source, and returns the
// rest of the source.
func (s *System) bookMove(from, to []batch.NodeAllocation) (leaves []batch.NodeAllocation, err error) {
	leaves = without(from, to)
	s.alloc.Release(from)
	switch {
	case s.anyDown(to) || !s.alloc.Take(to):
	case !s.alloc.Take(leaves):
		s.alloc.Release(to)
	default:
		return leaves, nil
	}
	s.alloc.Take(from)
	return nil, ErrNoCapacity
}

// sameHosts reports whether a running job can exchange one allocation for another: each host
// has the same number of its tasks as before.
func (s *System) sameHosts(a, b []batch.NodeAllocation) bool {
	if s.hosts == nil {
		return true
	}
	type part struct{ host, group int32 }
	tasks := make(map[part]int32)
	for sign, allocation := range map[int32][]batch.NodeAllocation{1: a, -1: b} {
		for _, l := range allocation {
			if l.Node < 0 || int(l.Node) >= len(s.hosts) {
				return false
			}
			tasks[part{s.hosts[l.Node], l.Group}] += sign * l.Processors
		}
	}
	for _, n := range tasks {
		if n != 0 {
			return false
		}
	}
	return true
}

// without returns the tasks of a that are not in b, with their shares in a.
func without(a, b []batch.NodeAllocation) []batch.NodeAllocation {
	var rest []batch.NodeAllocation
	b = slices.Clone(b)
	for _, l := range a {
		for i := range b {
			if b[i].Node == l.Node && b[i].Group == l.Group {
				n := min(l.Processors, b[i].Processors)
				l.Processors -= n
				b[i].Processors -= n
			}
		}
		if l.Processors > 0 {
			rest = append(rest, l)
		}
	}
	return rest
}
