package site

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// windows is a planner with a profile of the free processors.
type windows struct {
	*profile.Profile
	kind   batch.Kind
	blind  bool       // the estimate of a job without a window is always now
	inside batch.Time // start of jobs in reservations
}

func (w windows) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	for i, a := range asks {
		out[i].Kind = max(w.kind, batch.Promised)
		starts := out[i].Grow(len(a.Shapes))
		for k, s := range a.Shapes {
			if win := a.Job.Window; win != nil {
				starts[k] = win.Start
				if w.Fit(win.Start, win.End.Sub(win.Start), s.Width) != win.Start {
					starts[k] = batch.Never
				}
				continue
			}
			starts[k] = w.Fit(max(now, a.From), s.Walltime, s.Width)
			if w.blind {
				starts[k] = now
			}
			if a.Job.Agreed && a.Job.Deadline != 0 && starts[k].Add(s.Walltime) > a.Job.Deadline {
				starts[k] = batch.Never
			}
		}
	}
	return true
}

func (w windows) EstimateInside(_ batch.Time, _ batch.JobID, asks []batch.Ask, out []batch.Estimate) bool {
	for i := range asks {
		out[i].Kind = batch.Promised
		for k := range out[i].Grow(len(asks[i].Shapes)) {
			out[i].Starts[k] = w.inside
		}
	}
	return true
}

func sec(seconds int64) batch.Time { return batch.Time(seconds) * batch.Time(batch.Second) }

func numbered(n int) batch.JobID { return batch.JobID(fmt.Sprintf("01900000-0000-7000-8000-%012d", n)) }

// The reservation begins at the first instant at which the plan holds it, rounded up to
// a whole second where that fits.
func TestAdvanceReservationBeginsAsEarlyAsPossible(t *testing.T) {
	site := named(t, "lyon") // to offer changes nothing
	rapid.Check(t, func(t *rapid.T) {
		p := profile.New(0, 4)
		for range rapid.IntRange(0, 8).Draw(t, "busy") {
			from, long := rapid.Int64Range(0, 200).Draw(t, "from"), rapid.Int64Range(1, 60).Draw(t, "long")
			width := rapid.Int32Range(1, 4).Draw(t, "width")
			if p.Lowest(sec(from), sec(from+long)) >= width {
				p.Reserve(sec(from), sec(from+long), width)
			}
		}
		b := Booking{
			ID: numbered(1), Width: rapid.Int32Range(1, 4).Draw(t, "want"),
			Duration: batch.Duration(rapid.Int64Range(1, 60).Draw(t, "for")) * batch.Second,
		}
		now := sec(rapid.Int64Range(0, 50).Draw(t, "now"))
		if rapid.Bool().Draw(t, "bounded") {
			b.Until = now.Add(b.Duration) + sec(rapid.Int64Range(0, 250).Draw(t, "until"))
		}
		if rapid.Bool().Draw(t, "later") {
			b.From = now + sec(rapid.Int64Range(1, 100).Draw(t, "not before"))
			if b.Until != 0 {
				b.Until = max(b.Until, b.From.Add(b.Duration))
			}
		}
		want := batch.Never
		for x := max(b.From, now.Add(lead)); x < sec(1000); x += sec(1) {
			if p.Lowest(x, x.Add(b.Duration)) >= b.Width {
				want = x
				break
			}
		}
		if b.Fixed() && p.Lowest(b.From, b.From.Add(b.Duration)) < b.Width {
			want = batch.Never
		}
		if b.Until != 0 && want != batch.Never && want.Add(b.Duration) > b.Until {
			want = batch.Never
		}
		r, err := site.OfferReservation(now, b, windows{Profile: p})
		if want == batch.Never {
			refusedWith(t, err, problem.NoRoom)
			return
		}
		if b.Fixed() {
			want = b.From
		}
		if err != nil || r.Start != want || r.End != want.Add(b.Duration) {
			t.Fatalf("%+v at %v: %v..%v (%v), want %v", b, now, r.Start, r.End, err, want)
		}
	})
}

func refusedWith(t *rapid.T, err error, reason problem.Reason) {
	r, is := err.(*problem.Problem) //nolint:errorlint // the core returns it as it is
	if !is || r.Reason != reason {
		t.Fatalf("%v, want %s", err, reason)
	}
	if r.Offer == nil {
		t.Fatalf("%v: no alternative is offered", err)
	}
}

// If the estimates of jobs do not match the free windows, or say nothing about them, the site
// probes one start after another.
func TestReservationIsFoundByProbingIfJobEstimatesDoNotHelp(t *testing.T) {
	p := profile.New(0, 4)
	p.Reserve(0, sec(1000), 4)
	s := named(t, "lyon")
	r, err := s.OfferReservation(0, Booking{ID: numbered(1), Width: 4, Duration: 100 * batch.Second},
		windows{Profile: p, blind: true})
	if err != nil || r.Start < sec(1000) || r.Start > sec(1200) {
		t.Errorf("%v, %v", r.Start, err)
	}
}

func TestRepeatedBookingReturnsTheSameReservation(t *testing.T) {
	p := windows{Profile: profile.New(0, 4)}
	s := named(t, "lyon")
	b := Booking{ID: numbered(1), Width: 4, Duration: 100 * batch.Second, From: sec(50)}
	r, err := s.Book(sec(1), b, p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Book(sec(2), b, p)
	if err != nil || again != r {
		t.Errorf("%+v, %v", again, err)
	}
	fx := take(s, sec(2))
	if len(fx.Reserved) != 1 || len(fx.Plans) != 1 || fx.Plans[0].Kind != batch.CmdReserve ||
		*fx.Plans[0].Job.Window != (batch.Window{Start: sec(50), End: sec(150)}) {
		t.Errorf("%+v", fx)
	}
	for at, want := range map[batch.Time]ReservationState{
		sec(49): ReservationBooked, sec(50): ReservationOpen, sec(150): ReservationOver,
	} {
		if got := s.Reservations(at, ReservationFilter{State: want}); len(got) != 1 {
			t.Errorf("at %v the reservation is not %v", at, want)
		}
	}
	s.Unbook(numbered(1))
	if len(s.Reservations(0, ReservationFilter{})) != 0 {
		t.Error("the reservation is not forgotten")
	}
	// The record of a reservation is removed long after its end.
	if _, err := s.Book(sec(1), b, p); err != nil {
		t.Fatal(err)
	}
	later := sec(150).Add(Horizon + 1)
	if _, err := s.Book(later, Booking{ID: numbered(2), Width: 1, Duration: batch.Second}, p); err != nil {
		t.Fatal(err)
	}
	if fx := take(s, later); len(fx.Unreserved) != 1 || fx.Unreserved[0] != numbered(1) {
		t.Errorf("%v", fx.Unreserved)
	}
}

func TestRestartEndsJobsOfFinishedReservations(t *testing.T) {
	p := windows{Profile: profile.New(0, 4), inside: sec(60)}
	for _, c := range []struct {
		name  string
		spoil func(s *Site)
		now   batch.Time
		want  State
	}{
		{"still to come", func(*Site) {}, sec(10), Waiting},
		{"over", func(*Site) {}, sec(200), Failed},
		{"cancelled", func(s *Site) { _, _ = s.CancelReservation(sec(5), numbered(1)) }, sec(10), Cancelled},
	} {
		s := named(t, "lyon")
		if _, err := s.Book(sec(1), Booking{ID: numbered(1), Width: 4, Duration: 100 * batch.Second, From: sec(50)},
			p); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Submit(sec(2),
			Submission{ID: numbered(2), Request: &Request{Menu: menu(2, 10), Into: numbered(1)}}, p); err != nil {
			t.Fatal(err)
		}
		c.spoil(s)
		fx := take(s, sec(3))
		again := named(t, "lyon")
		if err := again.RestoreReservations(fx.Reserved); err != nil {
			t.Fatal(err)
		}
		if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
			t.Fatal(err)
		}
		if err := again.Recover(c.now, nil); err != nil {
			t.Fatal(err)
		}
		j := wants(t, again, numbered(2), c.want)
		plans := take(again, c.now).Plans
		if waits := c.want == Waiting; waits != (len(plans) == 1) || waits && plans[0].Into != WindowKey(numbered(1)) {
			t.Errorf("%s: %v, plans %+v", c.name, j.State, plans)
		}
	}
}

func TestJobThatDoesNotFitItsReservationIsRefused(t *testing.T) {
	s := named(t, "lyon")
	p := windows{Profile: profile.New(0, 4), inside: sec(60)}
	if _, err := s.Book(sec(1), Booking{ID: numbered(1), Width: 2, Duration: 100 * batch.Second, From: sec(50)},
		p); err != nil {
		t.Fatal(err)
	}
	ask := func(p Planner, now batch.Time, into batch.JobID, m []batch.Shape) error {
		_, err := s.Quote(now, Question{Request: &Request{Menu: m, Into: into}}, p)
		return err
	}
	never := windows{Profile: p.Profile, inside: batch.Never}
	refused(t, ask(never, sec(2), numbered(1), menu(2, 10)), problem.TooLate, "request.into")
	refused(t, ask(p, sec(2), numbered(1), []batch.Shape{{Width: 3, Walltime: batch.Second}}), problem.TooWide,
		"request.width")
	refused(t, ask(p, sec(2), numbered(9), menu(2, 10)), problem.UnknownReservation, "request.into")
	refused(t, ask(p, sec(150), numbered(1), menu(2, 10)), problem.ReservationOver, "request.into")
	if err := ask(cbfOf(t), sec(2), numbered(1), menu(2, 10)); err != ErrNoPlan { //nolint:errorlint // as it is
		t.Errorf("by a planner without reservations: %v", err)
	}
	if err := ask(p, sec(2), numbered(1), menu(2, 10)); err != nil {
		t.Error(err)
	}
}

func cbfOf(t *testing.T) Planner {
	p, err := cbf.New(batch.Processors(4), nil)
	if err != nil {
		t.Fatal(err)
	}
	return planningPolicy{p}
}
