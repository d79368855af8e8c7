package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Booking asks for processors to be set aside. With From and without Until it is a fixed
// reservation, which begins exactly at From. Otherwise it is an advance reservation, which begins
// as early as the plan allows.
type Booking struct {
	ID       batch.JobID    `json:"id"` // see CheckID
	Name     string         `json:"name,omitempty"`
	Owner    string         `json:"owner,omitempty"`
	Width    int32          `json:"width"`
	Duration batch.Duration `json:"duration"`
	From     batch.Time     `json:"from,omitempty"`  // earliest start; 0 for now
	Until    batch.Time     `json:"until,omitempty"` // latest end; 0 for any
}

// Fixed reports whether the reservation must begin at From.
func (b *Booking) Fixed() bool { return b.From != 0 && b.Until == 0 }

// Reservation is a number of processors that are set aside from Start to End. Its JSON is what a
// server stores.
type Reservation struct {
	Booking
	Start     batch.Time `json:"start"`
	End       batch.Time `json:"end"`
	Booked    batch.Time `json:"booked,omitempty"`    // 0 for an offer
	Cancelled batch.Time `json:"cancelled,omitempty"` // 0 if it was not cancelled

	Waiting int `json:"-"` // waiting jobs in it; set when it is handed out
	Running int `json:"-"` // running jobs in it
}

// ReservationState is the state of a reservation.
type ReservationState uint8

// The states.
const (
	ReservationBooked    ReservationState = iota + 1 // it will begin
	ReservationOpen                                  // jobs may run in it
	ReservationOver                                  // it has ended
	ReservationCancelled                             // it was given back
)

var reservationNames = [...]string{
	ReservationBooked: "booked", ReservationOpen: "open", ReservationOver: "over", ReservationCancelled: "cancelled",
}

// String returns the state's name in lower case.
func (s ReservationState) String() string {
	if int(s) < len(reservationNames) && reservationNames[s] != "" {
		return reservationNames[s]
	}
	return "unspecified"
}

// Active reports whether processors are or will be set aside.
func (s ReservationState) Active() bool { return s == ReservationBooked || s == ReservationOpen }

// State returns the state of the reservation at now.
func (r *Reservation) State(now batch.Time) ReservationState {
	switch {
	case r.Cancelled != 0:
		return ReservationCancelled
	case now >= r.End:
		return ReservationOver
	case now >= r.Start:
		return ReservationOpen
	}
	return ReservationBooked
}

// WindowKey is the key of a reservation in the batch system. Jobs have other keys, because attempts
// count from 1.
func WindowKey(id batch.JobID) batch.Key {
	if id == "" {
		return batch.Key{}
	}
	return batch.Key{Job: id}
}

// Spec returns the reservation for the batch system, which then owns it.
func (r *Reservation) Spec() *batch.Job {
	return &batch.Job{
		Shape: batch.Shape{Width: r.Width, Walltime: r.End.Sub(r.Start)}, Window: &batch.Window{
			Start: r.Start, End: r.End,
		},
		Owner: r.Owner, Name: r.Name,
	}
}

// Limits of reservations.
const (
	maxActiveReservations = 1000                  // that are not over
	maxReservations       = 10_000                // including those that are over
	maxAhead              = 366 * 24 * batch.Hour // from now to the start
	// lead is added to the start of a reservation that begins at once: the time until the batch
	// system knows of it.
	lead = batch.Second
)

// reservations holds all reservations of a site.
type reservations struct {
	byID    map[batch.JobID]*Reservation
	changed []batch.JobID // since the last Take
	gone    []batch.JobID // deleted since the last Take
}

// Book sets processors aside. The same booking again returns the same reservation. The error is a
// *problem.Problem with the nearest alternative; then nothing is changed. If the batch system
// refuses the reservation, the caller must call Unbook.
func (s *Site) Book(now batch.Time, b Booking, planner Planner) (Reservation, error) {
	if known, err := s.bookedBefore(b); known != nil || err != nil {
		return s.valueOf(known), err
	}
	r, err := s.OfferReservation(now, b, planner)
	if err != nil {
		return Reservation{}, err
	}
	s.sweep(now)
	if len(s.reserved.byID) >= maxReservations || s.active(now) >= maxActiveReservations {
		return Reservation{}, &problem.Problem{
			Reason: problem.TooManyReservations, Accepted: fmt.Sprintf("at most %d reservations that are not over",
				maxActiveReservations),
			Message: fmt.Sprintf("site %s has as many reservations as it takes", s.config.Name),
		}
	}
	r.Booked = now
	if s.reserved.byID == nil {
		s.reserved.byID = make(map[batch.JobID]*Reservation)
	}
	s.reserved.byID[b.ID] = &r
	s.reserved.changed = append(s.reserved.changed, b.ID)
	s.fx.Plans = append(s.fx.Plans, batch.Command{Kind: batch.CmdReserve, Key: WindowKey(b.ID), Job: r.Spec()})
	return r, nil
}

// bookedBefore returns the reservation of a repeated booking.
func (s *Site) bookedBefore(b Booking) (*Reservation, error) {
	known := s.reserved.byID[b.ID]
	if known == nil || known.Booking == b {
		return known, nil
	}
	return nil, &problem.Problem{
		Reason: problem.JobConflict, Field: "booking.id", Accepted: "an ID of its own for each booking",
		Message: fmt.Sprintf("reservation %s was booked with another booking", b.ID),
	}
}

// valueOf returns a copy of a reservation, without its jobs.
func (s *Site) valueOf(r *Reservation) Reservation {
	if r == nil {
		return Reservation{}
	}
	return *r
}

// Unbook removes a reservation that the batch system refused. Its booking was not answered yet.
func (s *Site) Unbook(id batch.JobID) {
	delete(s.reserved.byID, id)
	s.reserved.changed = slices.DeleteFunc(s.reserved.changed, func(c batch.JobID) bool { return c == id })
}

// CancelReservation gives a reservation back and ends the jobs in it. A reservation that is over or
// cancelled does not change.
func (s *Site) CancelReservation(now batch.Time, id batch.JobID) (Reservation, error) {
	r := s.reserved.byID[id]
	if r == nil {
		return Reservation{}, unknownReservation("id", id)
	}
	if r.State(now).Active() {
		c := *r
		c.Cancelled = now
		*r = c
		s.reserved.changed = append(s.reserved.changed, id)
		s.command(batch.CmdCancel, WindowKey(id))
	}
	return s.withJobs([]Reservation{*r})[0], nil
}

// ReservationFilter selects reservations. The zero ReservationFilter selects all.
type ReservationFilter struct {
	ID     batch.JobID
	State  ReservationState // 0 for any
	Active bool             // only reservations that are not over
	Owner  string
}

// Reservations returns the selected reservations, ordered by start and ID.
func (s *Site) Reservations(now batch.Time, f ReservationFilter) []Reservation {
	var out []Reservation
	for _, r := range s.reserved.byID {
		state := r.State(now)
		if (f.ID == "" || r.ID == f.ID) && (f.State == 0 || state == f.State) && (!f.Active || state.Active()) &&
			(f.Owner == "" || r.Owner == f.Owner) {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b Reservation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	return s.withJobs(out)
}

// withJobs counts the jobs in each reservation.
func (s *Site) withJobs(list []Reservation) []Reservation {
	if len(list) == 0 {
		return list
	}
	at := make(map[batch.JobID]int, len(list))
	for i := range list {
		at[list[i].ID] = i
	}
	for _, j := range s.book.order {
		if j == nil || j.Needs == nil || j.Needs.Into == "" || j.State.Final() {
			continue
		}
		i, listed := at[j.Needs.Into]
		switch {
		case !listed:
		case j.busy:
			list[i].Running++
		default:
			list[i].Waiting++
		}
	}
	return list
}

// active counts the reservations that are not over.
func (s *Site) active(now batch.Time) (n int) {
	for _, r := range s.reserved.byID {
		if r.State(now).Active() {
			n++
		}
	}
	return n
}

// sweep deletes reservations that ended more than Horizon ago.
func (s *Site) sweep(now batch.Time) {
	for id, r := range s.reserved.byID {
		if !r.State(now).Active() && now.Sub(max(r.End, r.Cancelled)) > Horizon {
			delete(s.reserved.byID, id)
			s.reserved.gone = append(s.reserved.gone, id)
		}
	}
	slices.Sort(s.reserved.gone)
}

// RestoreReservations loads the reservations of an earlier run, before Recover.
func (s *Site) RestoreReservations(list []Reservation) error {
	for i := range list {
		r := list[i]
		if r.ID == "" || r.Width < 1 || r.Start >= r.End {
			return fmt.Errorf("restore: reservation %q of %d processors from %v to %v", r.ID, r.Width, r.Start, r.End)
		}
		if s.reserved.byID == nil {
			s.reserved.byID = make(map[batch.JobID]*Reservation)
		}
		s.reserved.byID[r.ID] = &r
	}
	return nil
}

// maxReservationDuration bounds the duration of one.
const maxReservationDuration = catalogue.MaxTime

// take moves the changes to out.
func (r *reservations) take(out *Effects) {
	out.Reserved, out.Unreserved = out.Reserved[:0], append(out.Unreserved[:0], r.gone...)
	for _, id := range r.changed {
		if it := r.byID[id]; it != nil {
			out.Reserved = append(out.Reserved, *it)
		}
	}
	r.changed, r.gone = r.changed[:0], r.gone[:0]
}

// ReservationPlanner is a Planner that can also estimate jobs inside a reservation. A site whose
// planner does not implement it has no reservations.
type ReservationPlanner interface {
	// EstimateInside is Estimate for jobs in a reservation.
	EstimateInside(now batch.Time, reservation batch.JobID, asks []batch.Ask, out []batch.Estimate) bool
}

// quoteInside is quote for a request that runs in a reservation. It ignores shapes that are wider
// than the reservation.
func (s *Site) quoteInside(
	now batch.Time, q Question, job *batch.Job, menu []batch.Shape, planner Planner,
) (Quote, error) {
	r, err := s.activeReservation(now, q.Request.Into)
	if err != nil {
		return Quote{}, err
	}
	end := slices.IndexFunc(menu, func(sh batch.Shape) bool { return sh.Width > r.Width })
	switch {
	case end == 0:
		return Quote{}, problem.Field(problem.TooWide, "request.width", fmt.Sprintf("1..%d in reservation %s", r.Width,
			r.ID), "width %d", menu[0].Width)
	case end > 0:
		menu = menu[:end]
	}
	inside, able := planner.(ReservationPlanner)
	ask, out := batch.Ask{Job: job, Shapes: menu, From: s.from(now, q)}, make([]batch.Estimate, 1)
	if !able || !inside.EstimateInside(now, r.ID, []batch.Ask{ask}, out) {
		return Quote{}, ErrNoPlan
	}
	c := best(menu, &out[0])
	if c.index < 0 {
		shortest := slices.MinFunc(menu, func(a, b batch.Shape) int { return int(a.Walltime - b.Walltime) })
		return Quote{}, problem.Field(problem.TooLate, "request.into",
			"a job that ends in the reservation, behind those that wait for it",
			"no room for %v in reservation %s, which ends in %v", shortest, r.ID, r.End.Sub(now).CeilSeconds())
	}
	return s.finishQuote(now, q.Request, menu, c)
}

// endStranded ends, after a restart, the jobs in reservations that are over or cancelled: waiting
// jobs never start, and jobs that run in a cancelled reservation are killed.
func (s *Site) endStranded(now batch.Time) {
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
			_, _ = s.Ended(now, j.Key(), batch.Outcome{
				End: batch.EndCancelled, Reason: "its reservation was cancelled",
			}, nil)
		default:
			_, _ = s.Ended(now, j.Key(), batch.Outcome{End: batch.EndStartFailed, Reason: "its reservation is over"},
				nil)
		}
	}
}

// activeReservation returns the reservation of a request.
func (s *Site) activeReservation(now batch.Time, id batch.JobID) (*Reservation, error) {
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
		Reason: problem.UnknownReservation, Field: field, Accepted: "a reservation of this site",
		Hint:    "drover reservations lists them",
		Message: fmt.Sprintf("no reservation %q at this site", id),
	}
}
