package server

import (
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

const (
	booked    = droverv1.ReservationState_RESERVATION_STATE_BOOKED
	opened    = droverv1.ReservationState_RESERVATION_STATE_OPEN
	givenBack = droverv1.ReservationState_RESERVATION_STATE_CANCELLED
)

// booking returns a request for processors for some seconds.
func booking(t testing.TB, width int32, duration int64) *droverv1.Booking {
	return &droverv1.Booking{Id: newID(t), Width: width, Duration: seconds(duration), Owner: "ann"}
}

func fixed(b *droverv1.Booking, from time.Time) *droverv1.Booking {
	b.From = timestamppb.New(from)
	return b
}

// book makes a reservation that must succeed.
func (s *testSite) book(t testing.TB, b *droverv1.Booking) *droverv1.Reservation {
	t.Helper()
	res, err := s.client.BookReservation(within(t), &droverv1.BookReservationRequest{Booking: b})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetReservation()
}

// refusedBooking makes a reservation that must be refused.
func (s *testSite) refusedBooking(t testing.TB, b *droverv1.Booking, reason, field string) *droverv1.ErrorDetail {
	t.Helper()
	_, err := s.client.BookReservation(within(t), &droverv1.BookReservationRequest{Booking: b})
	_, d := detail(t, err)
	if d.GetReason() != reason || d.GetField() != field || d.GetAccepted() == "" && reason != "no-reservations" {
		t.Errorf("%v: %v, want %s of %s", b, d, reason, field)
	}
	offer, err := s.client.OfferReservation(within(t), &droverv1.OfferReservationRequest{Booking: b})
	if got := offer.GetRefusal().GetReason(); err != nil || got != reason {
		t.Errorf("offer: %v, %v", offer, err)
	}
	return d
}

func (s *testSite) reservations(t testing.TB, filter string) []*droverv1.Reservation {
	t.Helper()
	res, err := s.client.ListReservations(within(t), &droverv1.ServerServiceListReservationsRequest{Filter: filter})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetReservations()
}

func TestFixedReservationStartsAtTheRequestedTime(t *testing.T) {
	s := start(t, configured(t, "policy: {name: cbf}"))
	from := time.Now().Add(time.Hour)
	b := fixed(booking(t, 3, 600), from)
	r := s.book(t, b)
	if r.GetState() != booked || r.GetWidth() != 3 || r.GetSite() != "lyon" || r.GetOwner() != "ann" ||
		r.GetStart().AsTime().Sub(from).Abs() > time.Microsecond ||
		r.GetEnd().AsTime().Sub(r.GetStart().AsTime()) != 10*time.Minute {
		t.Errorf("%v", r)
	}
	if again := s.book(t, b); !again.GetStart().AsTime().Equal(r.GetStart().AsTime()) || again.GetId() != r.GetId() {
		t.Errorf("repeated: %v", again)
	}
	if list := s.reservations(t, "state=active owner=ann"); len(list) != 1 {
		t.Errorf("list: %v", list)
	}
	other := fixed(booking(t, 2, 600), from)
	other.Id = b.GetId()
	s.refusedBooking(t, other, "job-conflict", "booking.id")
	// A refused overlapping reservation gets the nearest offer: right after the first one.
	d := s.refusedBooking(t, fixed(booking(t, 2, 600), from.Add(5*time.Minute)), "no-room", "booking.from")
	if wait := d.GetOffer().GetWait().AsDuration(); wait < 69*time.Minute || wait > 71*time.Minute {
		t.Errorf("nearest offer: %v", d.GetOffer())
	}
	advance := booking(t, 2, 600)
	advance.From, advance.Until = timestamppb.New(from.Add(5*time.Minute)), timestamppb.New(from.Add(time.Hour))
	second := s.book(t, advance)
	if gap := second.GetStart().AsTime().Sub(r.GetEnd().AsTime()); gap < 0 || gap > 2*time.Second {
		t.Errorf("the advance reservation begins %v after the one before it", gap)
	}
	// The plan keeps jobs out of both.
	res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: &droverv1.Request{
		Service: "block", Width: 4, Walltime: seconds(3600),
	}})
	if err != nil || res.GetQuote().GetWait().AsDuration() < 79*time.Minute {
		t.Errorf("%v, %v", res.GetQuote(), err)
	}
}

func TestInvalidReservationsAreRefusedWithFieldAndRange(t *testing.T) {
	s := start(t, configured(t, "policy: {name: cbf}"))
	now := time.Now()
	for _, c := range []struct {
		reason, field string
		spoil         func(b *droverv1.Booking)
	}{
		{"bad-value", "booking.id", func(b *droverv1.Booking) { b.Id = "x" }},
		{"out-of-range", "booking.width", func(b *droverv1.Booking) { b.Width = 0 }},
		{"too-wide", "booking.width", func(b *droverv1.Booking) { b.Width = 5 }},
		{"out-of-range", "booking.duration", func(b *droverv1.Booking) { b.Duration = nil }},
		{"bad-value", "booking.name", func(b *droverv1.Booking) { b.Name = "a\x1b" }},
		{"out-of-range", "booking.from", func(b *droverv1.Booking) { fixed(b, now.Add(-time.Minute)) }},
		{"out-of-range", "booking.from", func(b *droverv1.Booking) { fixed(b, now.Add(1000*24*time.Hour)) }},
		{"out-of-range", "booking.until", func(b *droverv1.Booking) {
			b.Until = timestamppb.New(now.Add(-time.Minute))
		}},
		{"out-of-range", "booking.until", func(b *droverv1.Booking) {
			b.Until = timestamppb.New(now.Add(59 * time.Second))
		}},
	} {
		b := booking(t, 1, 60)
		c.spoil(b)
		d := s.refusedBooking(t, b, c.reason, c.field)
		if past := c.field == "booking.until"; past && d.GetOffer() == nil {
			t.Errorf("%s: no offer in %v", c.field, d)
		}
	}
	if len(s.reservations(t, "")) != 0 {
		t.Error("a refused call made a reservation")
	}
	_, err := s.client.ListReservations(within(t), &droverv1.ServerServiceListReservationsRequest{Filter: "state=odd"})
	if code, d := detail(t, err); code != connect.CodeInvalidArgument || d.GetField() != "filter" {
		t.Errorf("%v", err)
	}
	_, err = s.client.CancelReservation(within(t), &droverv1.CancelReservationRequest{Id: newID(t)})
	if code, _ := detail(t, err); code != connect.CodeNotFound {
		t.Errorf("%v", err)
	}
}

func TestJobsRunInTheirReservationUntilItIsCancelled(t *testing.T) {
	s := start(t, configured(t, "policy: {name: cbf}"))
	r := s.book(t, booking(t, 2, 300)) // as early as possible
	if wait := time.Until(r.GetStart().AsTime()); wait > 3*time.Second {
		t.Errorf("the reservation begins in %v", wait)
	}
	inside := func(service string, width int32) *droverv1.Request {
		return &droverv1.Request{Service: service, Into: r.GetId(), Width: width}
	}
	job := s.submit(t, inside("block", 2)) // 60s
	next := s.submit(t, inside("print", 0))
	s.until(t, job.GetId(), running)
	list := s.reservations(t, "id="+r.GetId())
	if len(list) != 1 || list[0].GetState() != opened || list[0].GetRunning() != 1 || list[0].GetWaiting() != 1 {
		t.Errorf("%v", list)
	}
	for reason, req := range map[string]*droverv1.Request{
		"too-wide":            inside("block", 4),
		"too-late":            {Service: "block", Into: r.GetId(), Width: 1, Walltime: seconds(300)},
		"unknown-reservation": {Service: "print", Into: newID(t)},
		"bad-value":           {Service: "print", Into: "x"},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: req})
		if _, d := detail(t, err); d.GetReason() != reason {
			t.Errorf("%v: %v", req, d)
		}
	}
	_, err := s.client.MoveJob(within(t), &droverv1.MoveJobRequest{JobId: next.GetId(), To: "lyon2"})
	if _, d := detail(t, err); d.GetReason() == "" {
		t.Error("a job in a reservation is movable")
	}
	if st, err := s.client.GetStatus(within(t), &droverv1.GetStatusRequest{}); err != nil ||
		st.GetStatus().GetBound() != 1 {
		t.Errorf("%v, %v", st.GetStatus(), err)
	}
	for range 2 {
		res, err := s.client.CancelReservation(within(t), &droverv1.CancelReservationRequest{Id: r.GetId()})
		if err != nil || res.GetReservation().GetState() != givenBack {
			t.Fatalf("%v, %v", res, err)
		}
	}
	for _, id := range []string{job.GetId(), next.GetId()} {
		j := s.until(t, id, droverv1.JobState_JOB_STATE_CANCELLED)
		if why := j.GetOutcome().GetReason(); !strings.Contains(why, "reservation was cancelled") {
			t.Errorf("why: %q", why)
		}
	}
	_, err = s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: inside("print", 0)})
	if _, d := detail(t, err); d.GetReason() != "reservation-over" {
		t.Errorf("%v", d)
	}
}

// unreserving is a batch system without reservations.
type unreserving struct{ system }

func (unreserving) Caps() batch.Caps { return batch.Caps{} }

func TestBatchSystemWithoutReservationsRefusesThem(t *testing.T) {
	for batchType, hint := range map[BatchType]string{Embedded: "policy", Slurm: "operator"} {
		c := configured(t, "policy: {name: cbf}")
		c.Batch.Type = batchType
		err := (&Server{cfg: c, system: unreserving{}}).noReservations()
		p, is := errors.AsType[*problem.Problem](err)
		if !is || p.Reason != problem.NoReservations || !strings.Contains(p.Hint, hint) {
			t.Errorf("%v: %+v", batchType, p)
		}
	}
}

func TestAgreementsAreKeptOrRefused(t *testing.T) {
	s := start(t, configured(t, "policy: {name: cbf}"))
	agreed := func(width int32, within time.Duration) *droverv1.Request {
		return &droverv1.Request{
			Service: "block", Width: width, Deadline: timestamppb.New(time.Now().Add(within)),
			Agreement: &droverv1.Agreement{Value: 10, Penalty: 3},
		}
	}
	a := s.submit(t, agreed(4, time.Minute)) // 50s
	if a.GetAgreement() != droverv1.AgreementState_AGREEMENT_STATE_OPEN ||
		a.GetRequest().GetAgreement().GetValue() != 10 {
		t.Errorf("%v", a)
	}
	_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: agreed(4, 70*time.Second)})
	_, d := detail(t, err)
	if completion := d.GetOffer().GetCompletion().AsDuration(); d.GetReason() != "no-offer" ||
		completion < 95*time.Second || completion > 100*time.Second {
		t.Errorf("%v", d)
	}
	b := s.submit(t, agreed(4, 105*time.Second))
	c := s.submit(t, agreed(1, 10*time.Minute))
	if l, err := s.client.HoldJobs(within(t), &droverv1.HoldJobsRequest{
		Round: newID(t),
		Lease: seconds(60),
	}); err != nil || len(l.GetJobs()) != 0 {
		t.Errorf("HoldJobs: %v, %v", l, err)
	}
	s.cancelled(t, c.GetId())
	for reason, r := range map[string]*droverv1.Request{
		"bad-value": {Service: "print", Agreement: &droverv1.Agreement{}},
		"out-of-range": {
			Service: "print", Deadline: timestamppb.New(time.Now().Add(time.Hour)),
			Agreement: &droverv1.Agreement{Penalty: -1},
		},
	} {
		_, err := s.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: r})
		if _, d := detail(t, err); d.GetReason() != reason {
			t.Errorf("%v: %v", r, d)
		}
	}
	short := &droverv1.Request{
		Service: "print", Deadline: timestamppb.New(time.Now().Add(time.Hour)),
		Agreement: &droverv1.Agreement{Value: 2.5},
	}
	// It starts after a and b, or earlier if a ends.
	k := s.submit(t, short)
	s.cancelled(t, a.GetId())
	s.cancelled(t, b.GetId())
	kept := s.until(t, k.GetId(), done)
	if kept.GetAgreement() != droverv1.AgreementState_AGREEMENT_STATE_KEPT {
		t.Errorf("%v", kept)
	}
	st, err := s.client.GetSite(within(t), &droverv1.GetSiteRequest{})
	counts := st.GetStatus().GetAgreements()
	if err != nil || counts.GetAccepted() != 4 || counts.GetKept() != 1 || counts.GetVoid() != 3 ||
		counts.GetValue() != 2.5 {
		t.Errorf("%v, %v", counts, err)
	}
}

// cancelled cancels a job and waits for its end.
func (s *testSite) cancelled(t testing.TB, id string) {
	t.Helper()
	if _, err := s.client.CancelJob(within(t), &droverv1.CancelJobRequest{JobId: id}); err != nil {
		t.Fatal(err)
	}
	s.until(t, id, droverv1.JobState_JOB_STATE_CANCELLED)
}

func TestReservationsAndAgreementsSurviveAServerKill(t *testing.T) {
	g := newGround(t)
	p := newProcessSite(t, "lyon", "policy: {name: cbf}")
	p.run()
	book := func(width int32, duration int64, after time.Duration) *droverv1.Reservation {
		b := booking(t, width, duration)
		if after > 0 {
			fixed(b, time.Now().Add(after))
		}
		res, err := p.client.BookReservation(within(t), &droverv1.BookReservationRequest{Booking: b})
		if err != nil {
			t.Fatal(err)
		}
		return res.GetReservation()
	}
	now, later, brief := book(2, 600, 0), book(4, 600, time.Hour), book(1, 1, 4*time.Second)
	into := func(r *droverv1.Reservation, gated bool) string {
		req := g.request("once", r.GetWidth(), gated, 0)
		req.Into = r.GetId()
		return p.submit(newID(t), req).GetId()
	}
	running := into(now, true)
	waiting := into(now, false)
	future := into(later, false)
	p.ready(running)
	agreed := g.request("once", 1, false, 0)
	agreed.Deadline, agreed.Agreement = timestamppb.New(time.Now().Add(time.Hour)), &droverv1.Agreement{Value: 1}
	p.until(p.submit(newID(t), agreed).GetId(), done)
	p.kill()
	p.run()
	list := func() map[string]*droverv1.Reservation {
		res, err := p.client.ListReservations(within(t), &droverv1.ServerServiceListReservationsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		out := make(map[string]*droverv1.Reservation)
		for _, r := range res.GetReservations() {
			out[r.GetId()] = r
		}
		return out
	}
	got := list()
	for _, want := range []*droverv1.Reservation{now, later, brief} {
		r := got[want.GetId()]
		if !r.GetStart().AsTime().Equal(want.GetStart().AsTime()) ||
			!r.GetEnd().AsTime().Equal(want.GetEnd().AsTime()) ||
			r.GetOwner() != "ann" {
			t.Errorf("%v became %v", want, r)
		}
	}
	if r := got[now.GetId()]; r.GetState() != opened || r.GetRunning() != 1 || r.GetWaiting() != 1 {
		t.Errorf("%v", r)
	}
	// Its processors are still reserved: no other job gets them.
	b := booking(t, 4, 60)
	b.Until = timestamppb.New(time.Now().Add(5 * time.Minute))
	if _, err := p.client.BookReservation(within(t), &droverv1.BookReservationRequest{Booking: b}); err == nil {
		t.Error("processors of a reservation were reserved twice")
	}
	g.open()
	p.until(running, done)
	p.until(waiting, done)
	if j := p.job(future); j.GetState() != droverv1.JobState_JOB_STATE_WAITING {
		t.Errorf("%v", j)
	}
	if _, err := p.client.CancelReservation(within(t),
		&droverv1.CancelReservationRequest{Id: later.GetId()}); err != nil {
		t.Fatal(err)
	}
	p.kill()
	p.run()
	p.until(future, droverv1.JobState_JOB_STATE_CANCELLED)
	if r := list()[later.GetId()]; r.GetState() != givenBack {
		t.Errorf("%v", r)
	}
	st, err := p.client.GetSite(within(t), &droverv1.GetSiteRequest{})
	if c := st.GetStatus().GetAgreements(); err != nil || c.GetAccepted() != 1 || c.GetKept() != 1 ||
		c.GetValue() != 1 {
		t.Errorf("%v, %v", c, err)
	}
	if lines, _, _ := g.lines(t); lines[running] != 1 || lines[waiting] != 1 || lines[future] != 0 {
		t.Errorf("runs: %v", lines)
	}
}
