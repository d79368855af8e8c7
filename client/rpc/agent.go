package rpc

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// Mapping is a question where a request should run.
type Mapping struct {
	Request   Request
	Job       string        // ID that the job will have; may be empty
	Within    time.Duration // how long the agent may wait for estimates
	Negotiate bool          // answer even if no site accepts the request
}

// Map returns a MapResponse.
func (c *Conn) Map(ctx context.Context, url string, m Mapping) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).Map, &droverv1.MapRequest{
		Request: m.Request.m, JobId: m.Job, Deadline: durationpb.New(m.Within), Negotiate: m.Negotiate,
	})
	return message(res, err)
}

// FindJob returns a FindJobResponse: where a job is, and the job as that site
// reported it last.
func (c *Conn) FindJob(ctx context.Context, url, id string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).FindJob, &droverv1.FindJobRequest{JobId: id})
	return message(res, err)
}

// ListJobs returns one page of jobs, as an AgentServiceListJobsResponse.
func (c *Conn) ListJobs(ctx context.Context, url, filter, token string, brief bool) (Message, error) {
	req := &droverv1.AgentServiceListJobsRequest{Filter: filter, PageToken: token, PageSize: rpc.LargestPage}
	if brief {
		req.View = droverv1.JobView_JOB_VIEW_BRIEF
	}
	res, err := unary(ctx, agent, url, c.agent(url).ListJobs, req)
	return message(res, err)
}

// ListSites returns one page of sites, as a ListSitesResponse.
func (c *Conn) ListSites(ctx context.Context, url, token string, accuracy bool) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).ListSites, &droverv1.ListSitesRequest{
		PageToken: token, Accuracy: accuracy,
	})
	return message(res, err)
}

// ListServices returns one page of services, as a ListServicesResponse.
func (c *Conn) ListServices(ctx context.Context, url, filter, token string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).ListServices, &droverv1.ListServicesRequest{
		Filter: filter, PageToken: token,
	})
	return message(res, err)
}

// MoveJob takes a struct that mirrors an AgentServiceMoveJobRequest, and returns
// an AgentServiceMoveJobResponse.
func (c *Conn) MoveJob(ctx context.Context, url string, order any) (Message, error) {
	req := fill(&droverv1.AgentServiceMoveJobRequest{}, order)
	res, err := unary(ctx, agent, url, c.agent(url).MoveJob, req)
	return message(res, err)
}

// ListMoves returns one page of moves, as an AgentServiceListMovesResponse.
func (c *Conn) ListMoves(ctx context.Context, url, filter, token string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).ListMoves, &droverv1.AgentServiceListMovesRequest{
		Filter: filter, PageToken: token,
	})
	return message(res, err)
}

// SetDraining returns a SiteStatus.
func (c *Conn) SetDraining(ctx context.Context, url, site string, draining bool) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).SetDraining, &droverv1.AgentServiceSetDrainingRequest{
		Site: site, Draining: draining,
	})
	return message(res.GetStatus(), err)
}

// ForgetSite drops a site that does not answer.
func (c *Conn) ForgetSite(ctx context.Context, url, site string) error {
	_, err := unary(ctx, agent, url, c.agent(url).ForgetSite, &droverv1.ForgetSiteRequest{Site: site})
	return err
}

// SettleJob takes a struct that mirrors a SettleJobRequest, and returns a Job.
func (c *Conn) SettleJob(ctx context.Context, url, site string, settlement any) (Message, error) {
	req := &droverv1.AgentServiceSettleJobRequest{Site: site, Settle: fill(&droverv1.SettleJobRequest{}, settlement)}
	res, err := unary(ctx, agent, url, c.agent(url).SettleJob, req)
	return message(res.GetJob(), err)
}

// Reallocate takes a struct that mirrors a ReallocateRequest, and returns a
// ReallocateResponse.
func (c *Conn) Reallocate(ctx context.Context, url string, order any) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).Reallocate, fill(&droverv1.ReallocateRequest{}, order))
	return message(res, err)
}

// OfferReservation takes a struct that mirrors a Booking, and returns an
// AgentServiceOfferReservationResponse.
func (c *Conn) OfferReservation(ctx context.Context, url, site string, booking any) (Message, error) {
	req := &droverv1.AgentServiceOfferReservationRequest{Site: site, Booking: fill(&droverv1.Booking{}, booking)}
	res, err := unary(ctx, agent, url, c.agent(url).OfferReservation, req)
	return message(res, err)
}

// ListReservations returns an AgentServiceListReservationsResponse.
func (c *Conn) ListReservations(ctx context.Context, url, filter string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).ListReservations, &droverv1.AgentServiceListReservationsRequest{
		Filter: filter,
	})
	return message(res, err)
}

// CancelReservation returns a Reservation.
func (c *Conn) CancelReservation(ctx context.Context, url, id string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).CancelReservation, &droverv1.AgentServiceCancelReservationRequest{
		Id: id,
	})
	return message(res.GetReservation(), err)
}

// GetSite returns an AgentServiceGetSiteResponse.
func (c *Conn) GetSite(ctx context.Context, url, site string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).GetSite, &droverv1.AgentServiceGetSiteRequest{Site: site})
	return message(res, err)
}

// FindData returns a FindDataResponse.
func (c *Conn) FindData(ctx context.Context, url, id string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).FindData, &droverv1.FindDataRequest{Id: id})
	return message(res, err)
}

// ListData returns one page of data, as an AgentServiceListDataResponse.
func (c *Conn) ListData(ctx context.Context, url, filter, token string) (Message, error) {
	res, err := unary(ctx, agent, url, c.agent(url).ListData, &droverv1.AgentServiceListDataRequest{
		Filter: filter, PageToken: token,
	})
	return message(res, err)
}

// RemoveData returns the names of the sites that had the data.
func (c *Conn) RemoveData(ctx context.Context, url, id string) ([]string, error) {
	res, err := unary(ctx, agent, url, c.agent(url).RemoveData, &droverv1.AgentServiceRemoveDataRequest{Id: id})
	return res.GetSites(), err
}
