package exec

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// setShare books the new shares and has the process held to them. The places must be
// those it has, or moves to.
func (s *System) setShare(now batch.Time, a *attempt, places []batch.Location) error {
	if !a.running() || !samePlaces(a.run.has(), places) {
		return ErrWrongState
	}
	r := a.run
	if !s.rebook(r.has(), places) {
		return ErrNoCapacity
	}
	places = slices.Clone(places)
	if r.next != nil && r.how != nil {
		r.next = places // it goes on as it was until it is there
		return nil
	}
	if r.next != nil {
		r.next = places
	} else {
		r.places, r.ran = places, places
	}
	r.settle(now, lowest(places))
	if r.ending == 0 {
		s.timers.set(a, r.limit(a.shape.Walltime))
	}
	s.tell(a)
	return nil
}

// rebook books places instead of those that are booked, or leaves it at that.
func (s *System) rebook(booked, places []batch.Location) bool {
	s.alloc.Release(booked)
	if s.alloc.Take(places) {
		return true
	}
	s.alloc.Take(booked)
	return false
}

// samePlaces says whether two allocations differ in nothing but their shares.
func samePlaces(a, b []batch.Location) bool {
	return slices.EqualFunc(a, b, func(l, m batch.Location) bool {
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
