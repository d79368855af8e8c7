package exec

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// setShare books the new shares and has the process held to them. The allocation must be
// those it has, or moves to.
func (s *System) setShare(now batch.Time, a *attempt, allocation []batch.NodeAllocation) error {
	if !a.running() || !samePlaces(a.run.has(), allocation) {
		return ErrWrongState
	}
	r := a.run
	if !s.rebook(r.has(), allocation) {
		return ErrNoCapacity
	}
	allocation = slices.Clone(allocation)
	if r.next != nil && r.how != nil {
		r.next = allocation // it goes on as it was until it is there
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
	s.tell(a)
	return nil
}

// rebook books allocation instead of those that are booked, or leaves it at that.
func (s *System) rebook(booked, allocation []batch.NodeAllocation) bool {
	s.alloc.Release(booked)
	if s.alloc.Take(allocation) {
		return true
	}
	s.alloc.Take(booked)
	return false
}

// samePlaces says whether two allocations differ in nothing but their shares.
func samePlaces(a, b []batch.NodeAllocation) bool {
	return slices.EqualFunc(a, b, func(l, m batch.NodeAllocation) bool {
		return l.Node == m.Node && l.Processors == m.Processors && l.Group == m.Group
	})
}

// tell has a process that can be held to what it is given.
func (s *System) tell(a *attempt) {
	sharer, able := a.run.proc.(Sharer)
	if !able {
		return
	}
	err := sharer.SetShares(a.run.has())
	if err != nil && !a.run.unshared {
		s.log.Warn("shares not set", "job", a.key.Job, "error", err)
	}
	a.run.unshared = err != nil
}
