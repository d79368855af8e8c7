package site

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Insider is a Planner that also answers when jobs would start inside a reservation.
// A site whose planner is none has no reservations.
type Insider interface {
	// EstimateInside is Estimate for jobs in a reservation.
	EstimateInside(now batch.Time, reservation batch.JobID, asks []batch.Ask, out []batch.Estimate) bool
}

// quoteInside is quote for a request that is for a reservation. Of the menu only what
// is no wider counts.
func (s *Site) quoteInside(now batch.Time, q Question, job *batch.Job, menu []batch.Shape, planner Planner) (Quote, error) {
	r, err := s.within(now, q.Request.Into)
	if err != nil {
		return Quote{}, err
	}
	end := slices.IndexFunc(menu, func(sh batch.Shape) bool { return sh.Width > r.Width })
	switch {
	case end == 0:
		return Quote{}, problem.Field(problem.TooWide, "request.width", fmt.Sprintf("1..%d in reservation %s", r.Width, r.ID), "width %d", menu[0].Width)
	case end > 0:
		menu = menu[:end]
	}
	inside, able := planner.(Insider)
	ask, out := batch.Ask{Job: job, Shapes: menu, From: from(now, q)}, make([]batch.Estimate, 1)
	if !able || !inside.EstimateInside(now, r.ID, []batch.Ask{ask}, out) {
		return Quote{}, ErrNoPlan
	}
	c := best(menu, &out[0])
	if c.index < 0 {
		shortest := slices.MinFunc(menu, func(a, b batch.Shape) int { return int(a.Walltime - b.Walltime) })
		return Quote{}, problem.Field(problem.TooLate, "request.into", "a job that ends in the reservation, behind those that wait for it",
			"no room for %v in reservation %s, which ends in %v", shortest, r.ID, r.End.Sub(now).CeilSeconds())
	}
	return s.conclude(now, q.Request, menu, c)
}

// stranded ends the jobs in reservations that are no more, after a restart: what
// waits never starts, what runs in one that was cancelled is killed.
func (s *Site) stranded(now batch.Time) {
	for _, j := range slices.Clone(s.book.order) {
		if j == nil || j.Needs == nil || j.Needs.Into == "" || j.State.Final() {
			continue
		}
		r := s.reserved.byID[j.Needs.Into]
		cancelled := r != nil && r.Cancelled != 0
		switch {
		case r != nil && r.State(now).Active():
		case j.busy && cancelled:
			s.command(batch.CmdCancel, j.Key())
		case j.busy || j.State != Waiting:
		case cancelled:
			_, _ = s.Ended(now, j.Key(), batch.Outcome{End: batch.EndCancelled, Reason: "its reservation was cancelled"}, nil)
		default:
			_, _ = s.Ended(now, j.Key(), batch.Outcome{End: batch.EndStartFailed, Reason: "its reservation is over"}, nil)
		}
	}
}

// within returns the reservation that a request is for.
func (s *Site) within(now batch.Time, id batch.JobID) (*Reservation, error) {
	r := s.reserved.byID[id]
	if r == nil {
		return nil, unknownReservation("request.into", id)
	}
	if state := r.State(now); !state.Active() {
		return nil, &problem.Problem{
			Reason: problem.ReservationOver, Field: "request.into", Accepted: "a reservation that is booked or open",
			Message: fmt.Sprintf("reservation %s is %v", id, state),
		}
	}
	return r, nil
}

func unknownReservation(field string, id batch.JobID) *problem.Problem {
	return &problem.Problem{
		Reason: problem.UnknownReservation, Field: field, Accepted: "a reservation of this site", Hint: "drover reservations lists them",
		Message: fmt.Sprintf("no reservation %q at this site", id),
	}
}
