package rpc

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// Serve returns the HTTP server of an agent, which the caller starts and stops, and
// its health.
func Serve(a Agent, log hclog.Logger) (*http.Server, *rpc.Health) {
	return rpc.Serve(rpc.Config{
		Name: "agent",
		Services: []rpc.Service{
			rpc.Handle[droverv1connect.AgentServiceHandler](droverv1connect.NewAgentServiceHandler, handler{a}),
		},
		Log: log,
	})
}

// handler is the AgentService.
type handler struct{ a Agent }

// Map finds the site that would complete a request first.
func (h handler) Map(ctx context.Context, req *droverv1.MapRequest) (*droverv1.MapResponse, error) {
	r := Request{req.GetRequest()}
	d, err := h.a.Map(ctx, req.GetJobId(), r, req.GetDeadline().AsDuration(), req.GetNegotiate())
	if err != nil {
		return nil, err
	}
	res := &droverv1.MapResponse{
		Decision: &droverv1.DecisionRecord{MadeAt: timestamppb.New(d.MadeAt), Agent: h.a.Name(), Chosen: d.Chosen},
	}
	for _, t := range d.Targets {
		res.Targets = append(res.Targets, t.message())
	}
	for i := range d.Candidates {
		res.Decision.Candidates = append(res.Decision.Candidates, candidateOut(&d.Candidates[i]))
	}
	return res, nil
}

func candidateOut(c *Candidate) *droverv1.Candidate {
	m := &droverv1.Candidate{Site: c.Site, Transfer: rpc.Duration(c.Transfer)}
	if c.Missing != mapping.Answered {
		absent := Absent{Missing: c.Missing, Problem: c.Problem}
		m.Missing = absent.message()
		return m
	}
	m.Wait, m.Run, m.Completion = rpc.Duration(c.Wait), rpc.Duration(c.Run), rpc.Duration(c.Completion)
	m.Margin, m.StateAge, m.Walltime = rpc.Duration(c.Margin), rpc.Duration(c.Age), rpc.Duration(c.Walltime)
	m.Width, m.Kind, m.Probability = c.Width, rpc.EstimateKind(c.Kind), c.P
	if c.Correction != 0 {
		m.Correction = rpc.Duration(c.Correction)
	}
	return m
}

// FindJob returns where a job is.
func (h handler) FindJob(ctx context.Context, req *droverv1.FindJobRequest) (*droverv1.FindJobResponse, error) {
	target, job, err := h.a.FindJob(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	return &droverv1.FindJobResponse{Target: target.message(), Job: job.m}, nil
}

// ListJobs lists the jobs of all sites, site by site.
func (h handler) ListJobs(
	ctx context.Context, req *droverv1.AgentServiceListJobsRequest,
) (*droverv1.AgentServiceListJobsResponse, error) {
	var from JobsPosition
	size, err := page(req, &from)
	if err != nil {
		return nil, err
	}
	p, err := h.a.ListJobs(ctx, req.GetFilter(), size, from, View(req.GetView()))
	if err != nil {
		return nil, err
	}
	res := &droverv1.AgentServiceListJobsResponse{Missing: absentOut(p.Missing), NextPageToken: token(p.Next)}
	for _, j := range p.Jobs {
		res.Jobs = append(res.Jobs, j.m)
	}
	return res, nil
}

// page reads which page of a list a request asks for: its size, and from the token
// where it begins.
func page(req interface {
	GetPageSize() int32
	GetPageToken() string
}, from any,
) (size int, err error) {
	if size, err = rpc.PageSize(req.GetPageSize()); err != nil {
		return 0, err
	}
	return size, rpc.ParseToken(req.GetPageToken(), from)
}

// token returns the token of the next page, "" for nil.
func token[P any](next *P) string {
	if next == nil {
		return ""
	}
	return rpc.Token(next)
}

// named is where a page of a list by name begins.
type named struct {
	From string `json:"f"` // the first name of the page
}

func namedToken(next string) string {
	if next == "" {
		return ""
	}
	return rpc.Token(named{next})
}

// MoveJob orders a move.
func (h handler) MoveJob(
	ctx context.Context, req *droverv1.AgentServiceMoveJobRequest,
) (*droverv1.AgentServiceMoveJobResponse, error) {
	gain, err := durationIn("min_gain", req.GetMinGain(), "a duration, or none for a move at any price")
	if err != nil {
		return nil, err
	}
	job, to, err := h.a.MoveJob(ctx, req.GetJobId(), req.GetTo(), gain, req.GetReason())
	if err != nil {
		return nil, err
	}
	return &droverv1.AgentServiceMoveJobResponse{Job: job.m, To: to.message()}, nil
}

// ListMoves lists the moves of all sites, the latest first.
func (h handler) ListMoves(
	ctx context.Context, req *droverv1.AgentServiceListMovesRequest,
) (*droverv1.AgentServiceListMovesResponse, error) {
	var after *mapping.MovePosition
	size, err := page(req, &after)
	if err != nil {
		return nil, err
	}
	p, err := h.a.ListMoves(ctx, req.GetFilter(), size, after)
	if err != nil {
		return nil, err
	}
	res := &droverv1.AgentServiceListMovesResponse{Missing: absentOut(p.Missing), NextPageToken: token(p.Next)}
	for _, m := range p.Moves {
		res.Moves = append(res.Moves, m.m)
	}
	return res, nil
}

// Reallocate runs a round of reallocation.
func (h handler) Reallocate(
	ctx context.Context, req *droverv1.ReallocateRequest,
) (*droverv1.ReallocateResponse, error) {
	o := RoundOptions{
		DryRun: req.GetDryRun(), Algorithm: req.GetAlgorithm(), Heuristic: req.GetHeuristic(), Window: req.GetWindow(),
		MostMoves: number(req.MostMoves), MostMovesRound: number(req.MostMovesRound), Patience: number(req.Patience),
	}
	for _, d := range []struct {
		field string
		sent  *durationpb.Duration
		into  **time.Duration
	}{{"threshold", req.GetThreshold(), &o.Threshold}, {"least_gain", req.GetLeastGain(), &o.LeastGain}} {
		if d.sent == nil {
			continue
		}
		if d.sent.CheckValid() != nil {
			return nil, &problem.Problem{
				Reason: problem.OutOfRange, Field: d.field, Message: d.sent.String(), Accepted: "a duration",
			}
		}
		as := d.sent.AsDuration()
		*d.into = &as
	}
	r, err := h.a.Reallocate(ctx, o)
	if err != nil {
		return nil, err
	}
	return roundOut(r, h.a.Name()), nil
}

func number(n *int32) *int {
	if n == nil {
		return nil
	}
	as := int(*n)
	return &as
}

// mostReported bounds the jobs of a round's answer, which has to fit into a message.
const mostReported = 10_000

func roundOut(r *Round, agent string) *droverv1.ReallocateResponse {
	c, n := &r.Config, &r.Record
	out := &droverv1.ReallocateResponse{Record: &droverv1.RoundRecord{
		Round: r.ID, Agent: agent, BeganAt: timestamppb.New(r.Began), DryRun: r.DryRun,
		Algorithm: c.Algorithm.String(), Heuristic: c.Heuristic.String(), Window: c.Window.String(),
		Sites: int32(r.Sites), Jobs: int32(n.Jobs), Held: int32(n.Held), Kept: int32(n.Kept), Moves: int32(n.Moves),
		Failed: int32(n.Failed), Later: int32(n.Later), Questions: int32(n.Questions), Estimates: n.Estimates,
		Gain:     rpc.Duration(n.Gain),
		Thinking: durationpb.New(r.Thinking), Asking: durationpb.New(r.Asking), Took: durationpb.New(r.Took),
	}, Missing: absentOut(r.Missing)}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.Problem != nil {
			out.Record.Failed++
		}
		stays := j.To == j.From && j.Before == j.After && j.Old == j.Shape
		if stays && j.Problem == nil || len(out.Jobs) == mostReported {
			continue
		}
		out.Jobs = append(out.Jobs, &droverv1.ReallocatedJob{
			JobId: j.ID, Service: j.Service, From: j.FromSite, To: j.ToSite, Before: rpc.Shape(j.Old),
			After:     rpc.Shape(j.Shape),
			EctBefore: rpc.Duration(j.Before), EctAfter: rpc.Duration(j.After), Gain: rpc.Duration(j.Gain()),
			Ordered: j.Ordered, Problem: rpc.DetailOf(j.Problem),
		})
	}
	return out
}

// ListSites lists the sites that the agent knows.
func (h handler) ListSites(ctx context.Context, req *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	var from named
	size, err := page(req, &from)
	if err != nil {
		return nil, err
	}
	sites, next, err := h.a.ListSites(ctx, req.GetFilter(), size, from.From, req.GetAccuracy())
	if err != nil {
		return nil, err
	}
	res := &droverv1.ListSitesResponse{NextPageToken: namedToken(next)}
	for i := range sites {
		res.Sites = append(res.Sites, siteOut(&sites[i]))
	}
	return res, nil
}

func siteOut(s *Site) *droverv1.KnownSite {
	site := &droverv1.Site{}
	proto.Merge(site, s.Peer.about.GetSite())
	site.Address = s.Address
	out := &droverv1.KnownSite{
		Site: site, Status: s.Status.m, Missing: s.Absent.message(), HeardAgo: rpc.Duration(s.HeardAgo),
	}
	if s.Details != nil { // a site can learn what its nodes can do after the agent has asked Describe
		site.Capabilities = s.Details.m.GetSite().GetCapabilities()
	}
	return out
}

// GetSite returns one site.
func (h handler) GetSite(
	ctx context.Context, req *droverv1.AgentServiceGetSiteRequest,
) (*droverv1.AgentServiceGetSiteResponse, error) {
	s, err := h.a.GetSite(ctx, req.GetSite())
	if err != nil {
		return nil, err
	}
	out := &droverv1.AgentServiceGetSiteResponse{Site: siteOut(s)}
	if s.Details != nil {
		out.Policy, out.Site.HeardAgo = s.Details.m.GetPolicy(), nil
	}
	return out, nil
}

// ListServices lists the services of all sites that answer.
func (h handler) ListServices(
	_ context.Context, req *droverv1.ListServicesRequest,
) (*droverv1.ListServicesResponse, error) {
	var from named
	size, err := page(req, &from)
	if err != nil {
		return nil, err
	}
	services, next, err := h.a.ListServices(req.GetFilter(), size, from.From)
	if err != nil {
		return nil, err
	}
	res := &droverv1.ListServicesResponse{NextPageToken: namedToken(next)}
	for _, s := range services {
		out := &droverv1.OfferedService{Service: s.m, Sites: s.Sites}
		for _, site := range slices.Sorted(maps.Keys(s.Withdrawn)) {
			out.Withdrawn = append(out.Withdrawn, &droverv1.Withdrawal{Site: site, Reason: s.Withdrawn[site]})
		}
		res.Services = append(res.Services, out)
	}
	return res, nil
}

// SetDraining starts or stops draining a site.
func (h handler) SetDraining(
	ctx context.Context, req *droverv1.AgentServiceSetDrainingRequest,
) (*droverv1.AgentServiceSetDrainingResponse, error) {
	status, err := h.a.SetDraining(ctx, req.GetSite(), req.GetDraining())
	if err != nil {
		return nil, err
	}
	return &droverv1.AgentServiceSetDrainingResponse{Status: status.m}, nil
}

// ForgetSite drops a site that does not answer.
func (h handler) ForgetSite(
	_ context.Context, req *droverv1.ForgetSiteRequest,
) (*droverv1.ForgetSiteResponse, error) {
	if err := h.a.ForgetSite(req.GetSite()); err != nil {
		return nil, err
	}
	return &droverv1.ForgetSiteResponse{}, nil
}

// SettleJob passes an operator's settlement on to a site.
func (h handler) SettleJob(
	ctx context.Context, req *droverv1.AgentServiceSettleJobRequest,
) (*droverv1.AgentServiceSettleJobResponse, error) {
	job, err := h.a.SettleJob(ctx, req.GetSite(), Settlement{req.GetSettle()})
	if err != nil {
		return nil, err
	}
	return &droverv1.AgentServiceSettleJobResponse{Job: job.m}, nil
}

// FindData returns the sites that have some data.
func (h handler) FindData(ctx context.Context, req *droverv1.FindDataRequest) (*droverv1.FindDataResponse, error) {
	found, missing, err := h.a.FindData(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	res := &droverv1.FindDataResponse{Missing: absentOut(missing)}
	for _, d := range found {
		res.Data = append(res.Data, &droverv1.LocatedData{Data: d.message(), Address: d.Address})
	}
	return res, nil
}

func (d *LocatedData) message() *droverv1.Data {
	d.m.Site = d.Site
	return d.m
}

// ListData lists the data of all sites, site by site.
func (h handler) ListData(
	ctx context.Context, req *droverv1.AgentServiceListDataRequest,
) (*droverv1.AgentServiceListDataResponse, error) {
	var from DataPosition
	size, err := page(req, &from)
	if err != nil {
		return nil, err
	}
	p, err := h.a.ListData(ctx, req.GetFilter(), size, from)
	if err != nil {
		return nil, err
	}
	res := &droverv1.AgentServiceListDataResponse{Missing: absentOut(p.Missing), NextPageToken: token(p.Next)}
	for i := range p.Data {
		res.Data = append(res.Data, p.Data[i].message())
	}
	return res, nil
}

// RemoveData removes data at all sites that have them.
func (h handler) RemoveData(
	ctx context.Context, req *droverv1.AgentServiceRemoveDataRequest,
) (*droverv1.AgentServiceRemoveDataResponse, error) {
	sites, err := h.a.RemoveData(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &droverv1.AgentServiceRemoveDataResponse{Sites: sites}, nil
}

// OfferReservation returns the reservations that a booking could get.
func (h handler) OfferReservation(
	ctx context.Context, req *droverv1.AgentServiceOfferReservationRequest,
) (*droverv1.AgentServiceOfferReservationResponse, error) {
	offers, missing, err := h.a.OfferReservation(ctx, Booking{req.GetBooking()}, req.GetSite())
	if err != nil {
		return nil, err
	}
	res := &droverv1.AgentServiceOfferReservationResponse{Missing: absentOut(missing)}
	for _, o := range offers {
		res.Offers = append(res.Offers, &droverv1.ReservationOffer{Target: o.Target.message(), Reservation: o.m})
	}
	return res, nil
}

// ListReservations lists the reservations of all sites.
func (h handler) ListReservations(
	ctx context.Context, req *droverv1.AgentServiceListReservationsRequest,
) (*droverv1.AgentServiceListReservationsResponse, error) {
	list, missing, err := h.a.ListReservations(ctx, req.GetFilter())
	if err != nil {
		return nil, err
	}
	res := &droverv1.AgentServiceListReservationsResponse{Missing: absentOut(missing)}
	for _, r := range list {
		res.Reservations = append(res.Reservations, r.m)
	}
	return res, nil
}

// CancelReservation cancels a reservation at the site that has it.
func (h handler) CancelReservation(
	ctx context.Context, req *droverv1.AgentServiceCancelReservationRequest,
) (*droverv1.AgentServiceCancelReservationResponse, error) {
	r, err := h.a.CancelReservation(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &droverv1.AgentServiceCancelReservationResponse{Reservation: r.m}, nil
}
