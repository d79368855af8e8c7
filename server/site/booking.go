package site

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Validate checks what a booking from outside says, apart from the rules that proto/rpc applies and
// from what depends on the site. The error is a *problem.Problem.
func (b *Booking) Validate() error {
	if _, err := CheckID(string(b.ID)); err != nil {
		return problem.Field(problem.BadValue, "booking.id", "a lower-case UUIDv7", "%.70q", b.ID)
	}
	for field, word := range map[string]string{"booking.name": b.Name, "booking.owner": b.Owner} {
		if strings.ContainsFunc(word, unicode.IsControl) || len(word) > 255 {
			return problem.Field(problem.BadValue, field, "at most 255 bytes without control characters", "%.70q", word)
		}
	}
	switch {
	case b.Width < 1:
		return problem.Field(problem.OutOfRange, "booking.width", "1 or more", "width %d", b.Width)
	case b.Duration < batch.Second || b.Duration > maxReservationDuration:
		return problem.Field(problem.OutOfRange, "booking.duration",
			fmt.Sprintf("%v..%v", batch.Second, maxReservationDuration), "duration %v", b.Duration)
	}
	return nil
}

// OfferReservation returns the reservation that a booking would get, and changes nothing. The error
// is a *problem.Problem with the nearest alternative, or ErrNoPlan.
func (s *Site) OfferReservation(now batch.Time, b Booking, planner Planner) (Reservation, error) {
	if known, err := s.bookedBefore(b); known != nil || err != nil {
		return s.valueOf(known), err
	}
	if s.draining {
		return Reservation{}, s.drains()
	}
	if b.Width > s.width {
		return Reservation{}, problem.Field(problem.TooWide, "booking.width",
			fmt.Sprintf("1..%d at this site", s.width), "width %d", b.Width)
	}
	if b.From > now.Add(maxAhead) {
		return Reservation{}, problem.Field(problem.OutOfRange, "booking.from", fmt.Sprintf("within %v", maxAhead),
			"%v from now", b.From.Sub(now).CeilSeconds())
	}
	p := windowSearch{now: now, booking: &b, planner: planner}
	if refusal := p.validate(); refusal != nil {
		return Reservation{}, s.nearest(&p, refusal)
	}
	start, ok := p.find()
	if p.noPlan {
		return Reservation{}, ErrNoPlan
	}
	if !ok {
		field, accepted := "booking.until", "a later end"
		if b.Fixed() {
			field, accepted = "booking.from", "another start"
		}
		return Reservation{}, s.nearest(&p, problem.Field(problem.NoRoom, field, accepted,
			"no room in the plan for %s for %v %s", processors(b.Width), b.Duration, p.describe()))
	}
	return Reservation{Booking: b, Start: start, End: start.Add(b.Duration)}, nil
}

// nearest adds the nearest alternative to a refusal.
func (s *Site) nearest(p *windowSearch, r *problem.Problem) *problem.Problem {
	free := Booking{Width: p.booking.Width, Duration: p.booking.Duration, From: max(p.booking.From, p.now)}
	if start, ok := (&windowSearch{now: p.now, booking: &free, planner: p.planner, ignoreEnd: true}).find(); ok {
		wait := start.Sub(p.now)
		r.Offer = &problem.Offer{
			Site: s.config.Name, Wait: wait.Std(), Completion: (wait + free.Duration).Std(), Width: free.Width,
		}
		r.Message += fmt.Sprintf("; the nearest that %s could set aside begins in %v, at %s", s.config.Name,
			wait.CeilSeconds(), stamp(ceilSecond(start)))
	}
	return r
}

// processors formats a number of processors.
func processors(n int32) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%d processors", n)
}

func stamp(t batch.Time) string { return time.UnixMicro(int64(t)).UTC().Format(time.RFC3339) }

// windowSearch searches for the start of a reservation.
type windowSearch struct {
	now       batch.Time
	booking   *Booking
	planner   Planner
	ignoreEnd bool // ignore the booking's Until
	noPlan    bool // the planner gave no estimate
}

// describe returns the window of the booking in words.
func (p *windowSearch) describe() string {
	switch b := p.booking; {
	case b.Fixed():
		return "from " + stamp(b.From)
	case b.Until != 0:
		return "between " + stamp(max(b.From, p.now)) + " and " + stamp(b.Until)
	}
	return "ever"
}

// validate refuses a window that is over or too short.
func (p *windowSearch) validate() *problem.Problem {
	b := p.booking
	first, window := max(b.From, p.now), b.Duration.CeilSeconds()
	if b.From < p.now.Add(lead) { // the next try is later
		window = reachable(window + lead)
	}
	switch {
	case b.Fixed() && b.From < p.now:
		return problem.Field(problem.OutOfRange, "booking.from", "an instant to come", "%v ago",
			p.now.Sub(b.From).CeilSeconds())
	case b.Until != 0 && b.Until <= p.now:
		return problem.Field(problem.OutOfRange, "booking.until", "an instant to come", "%v ago",
			p.now.Sub(b.Until).CeilSeconds())
	case b.Until != 0 && b.Until.Sub(first) < b.Duration:
		return problem.Field(problem.OutOfRange, "booking.until",
			fmt.Sprintf("at least %v after the start of the window", window),
			"a window of %v", b.Until.Sub(first)/batch.Second*batch.Second)
	}
	return nil
}

// find returns the earliest start in the booking's window that the plan can hold.
func (p *windowSearch) find() (batch.Time, bool) {
	b := p.booking
	if b.Fixed() && !p.ignoreEnd {
		return b.From, p.fits(b.From)
	}
	first := b.From
	if first < p.now.Add(lead) {
		first = ceilSecond(p.now.Add(lead))
	}
	fit := p.jobStart(first)
	for _, at := range []batch.Time{first, ceilSecond(fit), fit} {
		if fit != batch.Never && p.endsInTime(at) && p.fits(at) {
			return at, true
		}
	}
	return p.probe(first)
}

// ceilSecond rounds up to a whole second.
func ceilSecond(t batch.Time) batch.Time {
	const second = batch.Time(batch.Second)
	if t > batch.Never-second {
		return t
	}
	return (t + second - 1) / second * second
}

// endsInTime reports whether a reservation that begins at that time ends within the window.
func (p *windowSearch) endsInTime(at batch.Time) bool {
	return at < batch.Never && (p.ignoreEnd || p.booking.Until == 0 || at.Add(p.booking.Duration) <= p.booking.Until)
}

func (p *windowSearch) shape() batch.Shape {
	return batch.Shape{Width: p.booking.Width, Walltime: p.booking.Duration}
}

// jobStart returns the start of a job of the same shape with an agreement. It is only a guess at
// the start of the reservation.
func (p *windowSearch) jobStart(first batch.Time) batch.Time {
	ask := batch.Ask{
		Job: &batch.Job{Shape: p.shape(), Agreed: true, EarliestStart: first}, Shapes: []batch.Shape{p.shape()},
		From: first,
	}
	out := make([]batch.Estimate, 1)
	if !p.planner.Estimate(p.now, []batch.Ask{ask}, out) {
		p.noPlan = true
		return batch.Never
	}
	return max(out[0].Starts[0], first)
}

// fits asks the planner for the reservation itself.
func (p *windowSearch) fits(at batch.Time) bool { return len(p.firstFitting([]batch.Time{at})) > 0 }

// firstFitting returns the first of the starts that the plan can hold, in a slice; empty for none.
func (p *windowSearch) firstFitting(at []batch.Time) []batch.Time {
	asks, out := make([]batch.Ask, len(at)), make([]batch.Estimate, len(at))
	shapes := []batch.Shape{p.shape()}
	for i, t := range at {
		asks[i] = batch.Ask{Job: &batch.Job{
			Shape: shapes[0], Window: &batch.Window{Start: t, End: t.Add(p.booking.Duration)},
		}, Shapes: shapes}
	}
	if !p.planner.Estimate(p.now, asks, out) {
		p.noPlan = true
		return nil
	}
	for i, t := range at {
		if out[i].Starts[0] == t {
			return at[i : i+1]
		}
	}
	return nil
}

// probe tries starts at growing distances, for plans in which a job fits where no reservation does.
func (p *windowSearch) probe(first batch.Time) (batch.Time, bool) {
	const probes = 256
	step := max(p.booking.Duration/8, batch.Second)
	var at []batch.Time
	for t := first; len(at) < probes && p.endsInTime(t); t = t.Add(step) {
		at = append(at, t)
		if len(at)%32 == 0 {
			step *= 2
		}
	}
	if len(at) == 0 {
		return 0, false
	}
	found := p.firstFitting(at)
	return cmp.Or(append(found, 0)...), len(found) > 0
}
