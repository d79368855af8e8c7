package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Booking is a wish to have processors set aside. With From and without Until it is a
// fixed reservation, which begins then and only then; otherwise an advance
// reservation, which the site begins as early as its plan allows.
type Booking struct {
	ID       batch.JobID    `json:"id"` // see CheckID
	Name     string         `json:"name,omitempty"`
	Owner    string         `json:"owner,omitempty"`
	Width    int32          `json:"width"`
	Duration batch.Duration `json:"duration"`
	From     batch.Time     `json:"from,omitempty"`  // begins not before; 0 for now
	Until    batch.Time     `json:"until,omitempty"` // ends not after; 0 for no matter when
}

// Fixed says whether it begins at From or not at all.
func (b *Booking) Fixed() bool { return b.From != 0 && b.Until == 0 }

// Reservation is processors set aside from Start to End. Its JSON is the form in
// which a server keeps it.
type Reservation struct {
	Booking
	Start     batch.Time `json:"start"`
	End       batch.Time `json:"end"`
	Booked    batch.Time `json:"booked,omitempty"`    // 0 of an offer
	Cancelled batch.Time `json:"cancelled,omitempty"` // 0: it was not

	Waiting int `json:"-"` // jobs in it that wait; filled in by what hands it out
	Running int `json:"-"` // that run
}

// ReservationState is where a reservation is in its life.
type ReservationState uint8

// The states of a reservation.
const (
	ReservationBooked    ReservationState = iota + 1 // it will begin
	ReservationOpen                                  // jobs may run in it
	ReservationOver                                  // it has ended
	ReservationCancelled                             // somebody gave it back
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

// Active says whether processors are, or will be, set aside.
func (s ReservationState) Active() bool { return s == ReservationBooked || s == ReservationOpen }

// State returns where the reservation is in its life.
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

// WindowKey names a reservation to the batch system. No job has such a key, for
// attempts count from 1.
func WindowKey(id batch.JobID) batch.Key {
	if id == "" {
		return batch.Key{}
	}
	return batch.Key{Job: id}
}

// Spec returns what the batch system is told; it is the batch system's from then on.
func (r *Reservation) Spec() *batch.Job {
	return &batch.Job{
		Shape: batch.Shape{Width: r.Width, Walltime: r.End.Sub(r.Start)}, Window: &batch.Window{Start: r.Start, End: r.End},
		Owner: r.Owner, Name: r.Name,
	}
}

// The bounds of reservations.
const (
	mostActive   = 1000                  // that are not over
	mostReserved = 10_000                // with those that are
	farthest     = 366 * 24 * batch.Hour // until one begins
	// lead is how much later than now one begins that begins at once: as long as it
	// may take until the batch system hears of it.
	lead = batch.Second
)

// reservations is all that a site remembers of them.
type reservations struct {
	byID    map[batch.JobID]*Reservation
	changed []batch.JobID // since the last Take
	gone    []batch.JobID // forgotten since then
}

// Book sets processors aside. The same booking again gets the same reservation. The
// error is a *problem.Problem, with the nearest place that could be had; nothing is changed
// then. A batch system that refuses what is in the effects is told of with Unbook.
func (s *Site) Book(now batch.Time, b Booking, planner Planner) (Reservation, error) {
	if known, err := s.bookedBefore(b); known != nil || err != nil {
		return s.told(known), err
	}
	r, err := s.OfferReservation(now, b, planner)
	if err != nil {
		return Reservation{}, err
	}
	s.sweep(now)
	if len(s.reserved.byID) >= mostReserved || s.active(now) >= mostActive {
		return Reservation{}, &problem.Problem{
			Reason: problem.TooManyReservations, Accepted: fmt.Sprintf("at most %d reservations that are not over", mostActive),
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

// bookedBefore returns the reservation of a booking that is repeated.
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

// told returns what others are told of a reservation, without its jobs.
func (s *Site) told(r *Reservation) Reservation {
	if r == nil {
		return Reservation{}
	}
	return *r
}

// Unbook forgets a reservation that the batch system has refused, before anybody has
// heard of it.
func (s *Site) Unbook(id batch.JobID) {
	delete(s.reserved.byID, id)
	s.reserved.changed = slices.DeleteFunc(s.reserved.changed, func(c batch.JobID) bool { return c == id })
}

// CancelReservation gives a reservation back, and ends the jobs in it. One that is
// over, or cancelled, stays as it is.
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

// ReservationFilter selects reservations. The zero one selects all.
type ReservationFilter struct {
	ID     batch.JobID
	State  ReservationState // 0 for any
	Active bool             // only those that are not over
	Owner  string
}

// Reservations returns the reservations, by their starts, then by their IDs.
func (s *Site) Reservations(now batch.Time, f ReservationFilter) []Reservation {
	var out []Reservation
	for _, r := range s.reserved.byID {
		state := r.State(now)
		if (f.ID == "" || r.ID == f.ID) && (f.State == 0 || state == f.State) && (!f.Active || state.Active()) && (f.Owner == "" || r.Owner == f.Owner) {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b Reservation) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	return s.withJobs(out)
}

// withJobs counts the jobs in reservations.
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

// sweep forgets reservations that were over long ago.
func (s *Site) sweep(now batch.Time) {
	for id, r := range s.reserved.byID {
		if !r.State(now).Active() && now.Sub(max(r.End, r.Cancelled)) > Horizon {
			delete(s.reserved.byID, id)
			s.reserved.gone = append(s.reserved.gone, id)
		}
	}
	slices.Sort(s.reserved.gone)
}

// RestoreReservations gives a site those of an earlier life, before Recover.
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

// longestReservation bounds the duration of one.
const longestReservation = catalogue.MaxTime

// take moves what has changed to out.
func (r *reservations) take(out *Effects) {
	out.Reserved, out.Unreserved = out.Reserved[:0], append(out.Unreserved[:0], r.gone...)
	for _, id := range r.changed {
		if it := r.byID[id]; it != nil {
			out.Reserved = append(out.Reserved, *it)
		}
	}
	r.changed, r.gone = r.changed[:0], r.gone[:0]
}

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
