package exec

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// migrate begins to move an attempt that runs. With a checkpoint it is told to make
// place, and the attempt that follows it is launched where it goes. Without, its
// process is moved, which only virtual nodes of one host allow.
func (s *System) migrate(now batch.Time, a *attempt, to []batch.Location) error {
	r := a.run
	if !a.running() || r.next != nil || r.stopping || r.asked || tasks(to) != tasks(r.places) {
		return ErrWrongState
	}
	// One that is not launched yet may turn out to have a checkpoint.
	if r.proc != nil && r.how == nil && !s.neighbours(r.places, to) {
		return fmt.Errorf("%w: it has no checkpoint to go on from on another host", ErrUnsupported)
	}
	leaves := without(r.places, to)
	s.alloc.Release(r.places)
	switch {
	case s.anyDown(to) || !s.alloc.Take(to):
		s.alloc.Take(r.places)
		return ErrNoCapacity
	case !s.alloc.Take(leaves):
		s.alloc.Release(to)
		s.alloc.Take(r.places)
		return ErrNoCapacity
	}
	r.places, r.next = leaves, slices.Clone(to)
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
		s.makePlace(now, a)
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
		s.alloc.Release(r.places)
		r.places, r.ran, r.next = r.next, r.next, nil
		r.settle(now, r.share)
		s.changes.touch(a)
		s.apply(now, batch.Event{Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: true, Progress: r.done + r.work})
		s.apply(now, batch.Event{Kind: batch.Resumed, Job: a.job.Handle})
	}
	clear(s.moving)
	s.moving = s.moving[:0]
}

// moved returns what a job has left behind that is between its attempts and moves; nil
// for every other one.
func (s *System) moved(h batch.Handle) *parked {
	for _, p := range s.parked {
		if p.job.Handle == h && p.next != nil {
			return p
		}
	}
	return nil
}

// shareMoved carries out a decision about a job that is between its attempts and moves:
// it can have other shares when it goes on.
func (s *System) shareMoved(p *parked, d batch.Decision, fault func(*attempt, error) error) error {
	switch {
	case d.Kind != batch.SetShare || !samePlaces(p.next, d.Places):
		return fault(nil, ErrWrongState)
	case !s.rebook(p.next, d.Places):
		return fault(nil, ErrNoCapacity)
	}
	p.next = slices.Clone(d.Places)
	return nil
}

// neighbours says whether all places are on one host.
func (s *System) neighbours(a, b []batch.Location) bool {
	if s.hosts == nil {
		return true
	}
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	host := s.hosts[a[0].Node]
	elsewhere := func(l batch.Location) bool {
		return l.Node < 0 || int(l.Node) >= len(s.hosts) || s.hosts[l.Node] != host
	}
	return !slices.ContainsFunc(a, elsewhere) && !slices.ContainsFunc(b, elsewhere)
}

// without returns the tasks of a that are not in b, with the shares they have in a.
func without(a, b []batch.Location) []batch.Location {
	var rest []batch.Location
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
