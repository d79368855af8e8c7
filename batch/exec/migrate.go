package exec

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// migrate begins to move an attempt that runs. With a checkpoint it is told to make
// place, and the attempt that follows it is launched where it goes. Without, its
// process is moved, which only virtual nodes of one host allow.
func (s *System) migrate(now batch.Time, a *attempt, to []batch.NodeAllocation) error {
	r := a.run
	if !a.running() || r.next != nil || tasks(to) != tasks(r.allocation) {
		return ErrWrongState
	}
	// One that is not launched yet may turn out to have a checkpoint.
	if r.proc != nil && r.how == nil && !s.neighbours(r.allocation, to) {
		return fmt.Errorf("%w: it has no checkpoint to go on from on another host", ErrUnsupported)
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

// move carries on with an attempt that has been launched and is to move. One that is
// being ended goes on to its Finish.
func (s *System) move(now batch.Time, a *attempt) {
	switch {
	case a.run.ending != 0:
	case a.run.how != nil:
		s.askPlace(now, a)
	case !s.neighbours(a.run.ran, a.run.next):
		s.fail(&DecisionError{
			Decision: batch.Migrate, Handle: a.job.Handle, Key: a.key,
			Err: fmt.Errorf("%w: it has no checkpoint to go on from on another host", ErrUnsupported),
		})
	default:
		a.run.settle(now, lowest(a.run.next))
		s.timers.set(a, a.run.limit(a.shape.Walltime))
		s.tell(a)
		s.moving = append(s.moving, a)
	}
}

// arrive gives back what attempts have left that were moved as they run, and tells the
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

// between returns what a job has left behind that is between its attempts; nil for every
// other one.
func (s *System) between(h batch.Handle) *parked {
	for _, p := range s.parked {
		if p.job.Handle == h {
			return p
		}
	}
	return nil
}

// carryBetween carries out a decision about a job that is between its attempts, and
// runs as far as the policy knows.
func (s *System) carryBetween(p *parked, d batch.Decision, fault func(*attempt, error) error) error {
	has := &p.allocation
	if p.next != nil {
		has = &p.next
	}
	switch {
	case d.Kind == batch.Pause && p.next == nil: // it has stopped
	case d.Kind == batch.SetShare && samePlaces(*has, d.Allocation):
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

// bookMove books allocation besides what a job leaves for them, which it returns.
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

// neighbours says whether a job can have the one allocation instead of the others as it
// runs: each host has as many of its tasks as before.
func (s *System) neighbours(a, b []batch.NodeAllocation) bool {
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

// without returns the tasks of a that are not in b, with the shares they have in a.
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
