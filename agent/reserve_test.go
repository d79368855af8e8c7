package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	protorpc "github.com/seed-9b8f70bb/drover/proto/rpc"
)

// fakeReserve is what a fake server says of reservations.
type fakeReserve struct {
	start   time.Time // of what it offers
	booked  bool      // it has it
	refusal *droverv1.ErrorDetail
	list    []*droverv1.Reservation
}

func (f *fakeServer) OfferReservation(
	ctx context.Context, _ *droverv1.OfferReservationRequest,
) (*droverv1.OfferReservationResponse, error) {
	r := &f.reserve
	switch {
	case r.refusal != nil:
		return &droverv1.OfferReservationResponse{Refusal: r.refusal}, nil
	case r.start.IsZero():
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &droverv1.OfferReservationResponse{
		Booked: r.booked, Reservation: &droverv1.Reservation{Site: f.name, Start: timestamppb.New(r.start)},
	}, nil
}

func (f *fakeServer) ListReservations(
	_ context.Context, req *droverv1.ServerServiceListReservationsRequest,
) (*droverv1.ServerServiceListReservationsResponse, error) {
	if strings.Contains(req.GetFilter(), "odd") {
		p := &problem.Problem{Reason: problem.BadValue, Field: "filter", Message: "odd"}
		return nil, protorpc.WithDetail(p, p)
	}
	return &droverv1.ServerServiceListReservationsResponse{Reservations: f.reserve.list}, nil
}

func (f *fakeServer) CancelReservation(
	_ context.Context, req *droverv1.CancelReservationRequest,
) (*droverv1.CancelReservationResponse, error) {
	for _, r := range f.reserve.list {
		if r.GetId() == req.GetId() {
			return &droverv1.CancelReservationResponse{Reservation: r}, nil
		}
	}
	p := &problem.Problem{Reason: problem.UnknownReservation, Field: "id", Message: "unknown"}
	return nil, protorpc.WithDetail(p, p)
}

func (f *fakeServer) GetSite(context.Context, *droverv1.GetSiteRequest) (*droverv1.GetSiteResponse, error) {
	return &droverv1.GetSiteResponse{
		Site:   &droverv1.Site{Name: f.name, Capabilities: []string{"shares=v1"}},
		Policy: &droverv1.PolicyState{Active: f.name + "'s"}, Status: &droverv1.SiteStatus{Waiting: 7},
	}, nil
}

func reserving(t *testing.T, name string, r fakeReserve) *fakeServer {
	return (&fakeServer{name: name, services: []string{"lu"}, reserve: r}).start(t)
}

// noRoom is a refusal with something to have instead.
func noRoom(completion int64) *droverv1.ErrorDetail {
	return &droverv1.ErrorDetail{
		Reason: "no-room", Field: "booking.from", Accepted: "another start", Message: "no room", Offer: &droverv1.Offer{
			Site: "x", Wait: &durationpb.Duration{}, Completion: &durationpb.Duration{Seconds: completion}, Width: 2,
		},
	}
}

func TestOfferReservationRanksOffersByStart(t *testing.T) {
	now := time.Now()
	g := newGrid(t, func(c *Config) { c.Patience = 500 * time.Millisecond },
		reserving(t, "late", fakeReserve{start: now.Add(time.Hour)}), reserving(t, "b", fakeReserve{start: now}),
		reserving(t, "a", fakeReserve{start: now}),
		reserving(t, "full", fakeReserve{refusal: noRoom(60)}), reserving(t, "hung", fakeReserve{}))
	res, err := g.client.OfferReservation(context.Background(), &droverv1.AgentServiceOfferReservationRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range res.GetOffers() {
		got = append(got, o.GetTarget().GetSite())
	}
	for _, m := range res.GetMissing() {
		got = append(got, m.GetSite()+" "+m.GetMissing().GetDetail().GetReason())
	}
	if text := strings.Join(got, ", "); text != "a, b, late, full no-room, hung timeout" {
		t.Errorf("%s", text)
	}
	one, err := g.client.OfferReservation(context.Background(), &droverv1.AgentServiceOfferReservationRequest{
		Site: "late",
	})
	if err != nil || len(one.GetOffers()) != 1 || one.GetOffers()[0].GetTarget().GetSite() != "late" {
		t.Errorf("%v, %v", one, err)
	}
}

// A client that asks again after a lost answer must not get a second booking.
func TestASiteThatHasTheBookingIsTheOnlyOffer(t *testing.T) {
	now := time.Now()
	g := newGrid(t, quick, reserving(t, "a", fakeReserve{start: now}),
		reserving(t, "has", fakeReserve{start: now.Add(time.Hour), booked: true}))
	res, err := g.client.OfferReservation(context.Background(), &droverv1.AgentServiceOfferReservationRequest{})
	if err != nil || len(res.GetOffers()) != 1 || res.GetOffers()[0].GetTarget().GetSite() != "has" {
		t.Errorf("%v, %v", res, err)
	}
}

func TestARefusedBookingHasTheNearestOffer(t *testing.T) {
	none := &droverv1.ErrorDetail{Reason: "no-reservations", Message: "Slurm"}
	for _, c := range []struct {
		reason  string
		nearest int64
		sites   []fakeReserve
	}{
		{"no-room", 60, []fakeReserve{{refusal: noRoom(90)}, {refusal: noRoom(60)}}},
		{"no-room", 90, []fakeReserve{{refusal: noRoom(90)}, {refusal: none}, {}}},
		{"no-reservations", 0, []fakeReserve{{refusal: none}}},
		{"no-candidate", 0, []fakeReserve{{refusal: none}, {}}},
	} {
		var servers []*fakeServer
		for i, r := range c.sites {
			servers = append(servers, reserving(t, string(rune('a'+i)), r))
		}
		g := newGrid(t, func(c *Config) { c.Patience = 300 * time.Millisecond }, servers...)
		_, err := g.client.OfferReservation(context.Background(), &droverv1.AgentServiceOfferReservationRequest{})
		if _, d := detail(t, err); d.GetReason() != c.reason || d.GetOffer().GetCompletion().GetSeconds() != c.nearest {
			t.Errorf("%v: %v", c.reason, d)
		}
	}
}

func TestReservationsAreListedAndCancelledAtAllSites(t *testing.T) {
	at := func(id string) fakeReserve { return fakeReserve{list: []*droverv1.Reservation{{Id: id}}} }
	gone := reserving(t, "gone", at("z"))
	g := newGrid(t, quick, reserving(t, "a", at("x")), reserving(t, "b", at("y")), gone)
	ctx := context.Background()
	list := func(filter string) (n, missing int) {
		res, err := g.client.ListReservations(ctx, &droverv1.AgentServiceListReservationsRequest{Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		return len(res.GetReservations()), len(res.GetMissing())
	}
	if n, missing := list("state=active"); n != 3 || missing != 0 {
		t.Errorf("%d, %d missing", n, missing)
	}
	_, err := g.client.ListReservations(ctx, &droverv1.AgentServiceListReservationsRequest{Filter: "state=odd"})
	if code, _ := detail(t, err); code != connect.CodeInvalidArgument {
		t.Error(err)
	}
	gone.stop()
	if n, missing := list("site=b"); n != 1 || missing != 0 {
		t.Errorf("%d, %d missing", n, missing)
	}
	if n, missing := list(""); n != 2 || missing != 1 {
		t.Errorf("%d, %d missing", n, missing)
	}
	if res, err := g.client.CancelReservation(ctx, &droverv1.AgentServiceCancelReservationRequest{
		Id: "y",
	}); err != nil || res.GetReservation().GetId() != "y" {
		t.Errorf("%v, %v", res, err)
	}
	// It may be at the one that does not answer.
	_, err = g.client.CancelReservation(ctx, &droverv1.AgentServiceCancelReservationRequest{Id: "z"})
	if _, d := detail(t, err); d.GetReason() != "unreachable" || !d.GetRetryable() {
		t.Errorf("%v", d)
	}
	res, err := g.client.GetSite(ctx, &droverv1.AgentServiceGetSiteRequest{Site: "a"})
	if err != nil || res.GetPolicy().GetActive() != "a's" || res.GetSite().GetStatus().GetWaiting() != 7 {
		t.Errorf("%v, %v", res, err)
	}
	_, err = g.client.GetSite(ctx, &droverv1.AgentServiceGetSiteRequest{Site: "nowhere"})
	if code, _ := detail(t, err); code != connect.CodeNotFound {
		t.Error(err)
	}
}

func refuses(
	reason string, completion int64,
) func(context.Context, *droverv1.EstimateRequest) (*droverv1.Quote, error) {
	d := &droverv1.ErrorDetail{Reason: reason, Message: reason, Accepted: fmt.Sprintf("at least %d", completion)}
	if completion > 0 {
		d.Offer = &droverv1.Offer{Site: "there", Completion: &durationpb.Duration{Seconds: completion}}
	}
	return answers(&droverv1.Quote{Refusal: d})
}

func TestARefusedAgreementHasTheEarliestPromise(t *testing.T) {
	site := func(name string, e func(context.Context, *droverv1.EstimateRequest) (*droverv1.Quote, error)) *fakeServer {
		return (&fakeServer{name: name, services: []string{"lu"}, estimate: e}).start(t)
	}
	g := newGrid(t, func(c *Config) { c.Patience = 400 * time.Millisecond },
		site("a", refuses("no-offer", 700)), site("b", refuses("no-offer", 500)), site("c", refuses("no-promise", 0)),
		site("d", hangs))
	_, err := g.client.Map(context.Background(), lu())
	_, d := detail(t, err)
	if d.GetReason() != "no-offer" || d.GetOffer().GetCompletion().GetSeconds() != 500 ||
		d.GetAccepted() != "at least 500" || !strings.Contains(d.GetMessage(), "no answer from d") ||
		!d.GetRetryable() {
		t.Errorf("%v", d)
	}
	req := lu()
	req.Negotiate = true
	res, err := g.client.Map(context.Background(), req)
	if err != nil || len(res.GetTargets()) != 0 || len(res.GetDecision().GetCandidates()) != 4 ||
		res.GetDecision().GetChosen() != "" {
		t.Errorf("%v, %v", res, err)
	}
	g = newGrid(t, quick, site("e", refuses("no-promise", 0)), site("f", refuses("no-promise", 0)))
	_, err = g.client.Map(context.Background(), lu())
	if _, d := detail(t, err); d.GetReason() != "no-promise" {
		t.Errorf("%v", d)
	}
	// The site that has a reservation says why a job cannot go into it.
	g = newGrid(t, quick, site("h", refuses("unknown-reservation", 0)), site("i", refuses("too-late", 0)))
	_, err = g.client.Map(context.Background(), lu())
	if _, d := detail(t, err); d.GetReason() != "too-late" {
		t.Errorf("%v", d)
	}
}
