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

// Validate checks the form of a booking that comes from outside, as far as no site is
// needed for it. The error is a *problem.Problem.
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
	case b.Duration < batch.Second || b.Duration > longestReservation:
		return problem.Field(problem.OutOfRange, "booking.duration", fmt.Sprintf("%v..%v", batch.Second, longestReservation), "duration %v", b.Duration)
	}
	return nil
}

// OfferReservation answers which reservation a booking would get. The error is a
// *problem.Problem, with the nearest place that could be had, or ErrNoPlan. It changes nothing.
func (s *Site) OfferReservation(now batch.Time, b Booking, planner Planner) (Reservation, error) {
	if known, err := s.bookedBefore(b); known != nil || err != nil {
		return s.told(known), err
	}
	if s.draining {
		return Reservation{}, s.drains()
	}
	if b.Width > s.width {
		return Reservation{}, problem.Field(problem.TooWide, "booking.width", fmt.Sprintf("1..%d at this site", s.width), "width %d", b.Width)
	}
	if b.From > now.Add(farthest) {
		return Reservation{}, problem.Field(problem.OutOfRange, "booking.from", fmt.Sprintf("within %v", farthest), "%v from now", b.From.Sub(now).CeilSeconds())
	}
	p := pinner{now: now, booking: &b, planner: planner}
	if refusal := p.early(); refusal != nil {
		return Reservation{}, s.nearest(&p, refusal)
	}
	start, ok := p.pin()
	if p.silent {
		return Reservation{}, ErrNoPlan
	}
	if !ok {
		field, accepted := "booking.until", "a later end"
		if b.Fixed() {
			field, accepted = "booking.from", "another start"
		}
		return Reservation{}, s.nearest(&p, problem.Field(problem.NoRoom, field, accepted,
			"no room in the plan for %s for %v %s", processors(b.Width), b.Duration, p.when()))
	}
	return Reservation{Booking: b, Start: start, End: start.Add(b.Duration)}, nil
}

// nearest adds to a refusal what could be had instead.
func (s *Site) nearest(p *pinner, r *problem.Problem) *problem.Problem {
	free := Booking{Width: p.booking.Width, Duration: p.booking.Duration, From: max(p.booking.From, p.now)}
	if start, ok := (&pinner{now: p.now, booking: &free, planner: p.planner, anywhere: true}).pin(); ok {
		wait := start.Sub(p.now)
		r.Offer = &problem.Offer{
			Site: s.config.Name, Wait: wait.Std(), Completion: (wait + free.Duration).Std(), Width: free.Width,
		}
		r.Message += fmt.Sprintf("; the nearest that %s could set aside begins in %v, at %s", s.config.Name, wait.CeilSeconds(), stamp(whole(start)))
	}
	return r
}

// processors counts them for people.
func processors(n int32) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%d processors", n)
}

func stamp(t batch.Time) string { return time.UnixMicro(int64(t)).UTC().Format(time.RFC3339) }

// pinner finds the instant at which a reservation begins.
type pinner struct {
	now      batch.Time
	booking  *Booking
	planner  Planner
	anywhere bool // whatever the booking's until
	silent   bool // the planner does not answer
}

// when says what the booking wants.
func (p *pinner) when() string {
	switch b := p.booking; {
	case b.Fixed():
		return "from " + stamp(b.From)
	case b.Until != 0:
		return "between " + stamp(max(b.From, p.now)) + " and " + stamp(b.Until)
	}
	return "ever"
}

// early refuses what lies in the past, or is too short for the booking.
func (p *pinner) early() *problem.Problem {
	b := p.booking
	first, window := max(b.From, p.now), b.Duration.CeilSeconds()
	if b.From < p.now.Add(lead) { // the next try is later
		window = reachable(window + lead)
	}
	switch {
	case b.Fixed() && b.From < p.now:
		return problem.Field(problem.OutOfRange, "booking.from", "an instant to come", "%v ago", p.now.Sub(b.From).CeilSeconds())
	case b.Until != 0 && b.Until <= p.now:
		return problem.Field(problem.OutOfRange, "booking.until", "an instant to come", "%v ago", p.now.Sub(b.Until).CeilSeconds())
	case b.Until != 0 && b.Until.Sub(first) < b.Duration:
		return problem.Field(problem.OutOfRange, "booking.until", fmt.Sprintf("at least %v after the start of the window", window),
			"a window of %v", b.Until.Sub(first)/batch.Second*batch.Second)
	}
	return nil
}

// pin returns the earliest instant in the booking's window at which the plan holds it.
func (p *pinner) pin() (batch.Time, bool) {
	b := p.booking
	if b.Fixed() && !p.anywhere {
		return b.From, p.holds(b.From)
	}
	first := b.From
	if first < p.now.Add(lead) {
		first = whole(p.now.Add(lead))
	}
	fit := p.fit(first)
	for _, at := range []batch.Time{first, whole(fit), fit} {
		if fit != batch.Never && p.allows(at) && p.holds(at) {
			return at, true
		}
	}
	return p.probe(first)
}

// whole returns the next whole second.
func whole(t batch.Time) batch.Time {
	const second = batch.Time(batch.Second)
	if t > batch.Never-second {
		return t
	}
	return (t + second - 1) / second * second
}

// allows says whether one that begins then ends in time.
func (p *pinner) allows(at batch.Time) bool {
	return at < batch.Never && (p.anywhere || p.booking.Until == 0 || at.Add(p.booking.Duration) <= p.booking.Until)
}

func (p *pinner) shape() batch.Shape {
	return batch.Shape{Width: p.booking.Width, Walltime: p.booking.Duration}
}

// fit returns when the same rectangle would begin if it were a job with an agreement.
// It is only a guess at when the window may.
func (p *pinner) fit(first batch.Time) batch.Time {
	ask := batch.Ask{Job: &batch.Job{Shape: p.shape(), Agreed: true, EarliestStart: first}, Shapes: []batch.Shape{p.shape()}, From: first}
	out := make([]batch.Estimate, 1)
	if !p.planner.Estimate(p.now, []batch.Ask{ask}, out) {
		p.silent = true
		return batch.Never
	}
	return max(out[0].Starts[0], first)
}

// holds asks for the window itself.
func (p *pinner) holds(at batch.Time) bool { return len(p.first([]batch.Time{at})) > 0 }

// first returns the first of the instants at which the window could begin, if any.
func (p *pinner) first(at []batch.Time) []batch.Time {
	asks, out := make([]batch.Ask, len(at)), make([]batch.Estimate, len(at))
	shapes := []batch.Shape{p.shape()}
	for i, t := range at {
		asks[i] = batch.Ask{Job: &batch.Job{Shape: shapes[0], Window: &batch.Window{Start: t, End: t.Add(p.booking.Duration)}}, Shapes: shapes}
	}
	if !p.planner.Estimate(p.now, asks, out) {
		p.silent = true
		return nil
	}
	for i, t := range at {
		if out[i].Starts[0] == t {
			return at[i : i+1]
		}
	}
	return nil
}

// probe looks for a place in steps that grow: for plans in which a job fits where no
// window does.
func (p *pinner) probe(first batch.Time) (batch.Time, bool) {
	const probes = 256
	step := max(p.booking.Duration/8, batch.Second)
	var at []batch.Time
	for t := first; len(at) < probes && p.allows(t); t = t.Add(step) {
		at = append(at, t)
		if len(at)%32 == 0 {
			step *= 2
		}
	}
	if len(at) == 0 {
		return 0, false
	}
	found := p.first(at)
	return cmp.Or(append(found, 0)...), len(found) > 0
}
