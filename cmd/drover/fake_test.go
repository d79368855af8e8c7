package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
)

// movingJob is the ID of the fake grid's job.
const movingJob = "01a1fddd-b7ba-7e51-8bf0-783efd4419a7"

// fakeGrid is an agent on a real socket. It reports a job that moves from lyon to nancy, and
// records the requests that it receives.
type fakeGrid struct {
	url string

	mu          sync.Mutex
	moved       *droverv1.AgentServiceMoveJobRequest
	settled     *droverv1.AgentServiceSettleJobRequest
	reallocated *droverv1.ReallocateRequest
	filter      string
	polls       int
	outcome     droverv1.MoveState // of the move, from the third poll on
	waiting     int32              // at lyon
	owner       string             // of the job
}

// newFakeGrid serves a fake grid until the test ends.
func newFakeGrid(t *testing.T) *fakeGrid {
	t.Helper()
	f := &fakeGrid{outcome: droverv1.MoveState_MOVE_STATE_MOVED}
	mux := http.NewServeMux()
	mux.Handle(droverv1connect.NewAgentServiceHandler(agentFace{fakeGrid: f}))
	mux.Handle(droverv1connect.NewServerServiceHandler(serverFace{fakeGrid: f}))
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: mux, Protocols: &protocols}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.url = "http://" + l.Addr().String()
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return f
}

type (
	agentFace struct {
		droverv1connect.UnimplementedAgentServiceHandler
		*fakeGrid
	}
	serverFace struct {
		droverv1connect.UnimplementedServerServiceHandler
		*fakeGrid
	}
)

func (f *fakeGrid) job() *droverv1.Job {
	return &droverv1.Job{
		Id: movingJob, State: droverv1.JobState_JOB_STATE_MOVING, Site: "lyon", Peer: "nancy", Epoch: 2, Attempt: 2,
		RetryOf: "01a1fddd-b7ba-7e51-8bf0-000000000000", Request: &droverv1.Request{Service: "lu", Owner: f.owner},
		Moves: []*droverv1.Move{
			{From: "nancy", To: "lyon", Epoch: 1, State: droverv1.MoveState_MOVE_STATE_MOVED, Reason: "drain"},
			{
				From: "lyon", To: "rennes", Epoch: 2, State: droverv1.MoveState_MOVE_STATE_ABORTED, Reason: "by hand",
				AbortedWhy: "no answer in time",
			},
			{
				From: "lyon", To: "nancy", Epoch: 3, State: droverv1.MoveState_MOVE_STATE_PENDING,
				OrderedAt: timestamppb.New(time.Unix(1e9, 0)),
			},
		},
	}
}

func (f agentFace) MoveJob(
	_ context.Context, req *droverv1.AgentServiceMoveJobRequest,
) (*droverv1.AgentServiceMoveJobResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moved = req
	return &droverv1.AgentServiceMoveJobResponse{Job: f.job(), To: &droverv1.Target{Site: "nancy"}}, nil
}

func (f agentFace) ListMoves(
	_ context.Context, req *droverv1.AgentServiceListMovesRequest,
) (*droverv1.AgentServiceListMovesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filter = req.GetFilter()
	f.polls++
	m := &droverv1.Move{
		JobId: movingJob, Service: "lu", From: "lyon", To: "nancy", Epoch: 2,
		State: droverv1.MoveState_MOVE_STATE_PENDING, Agent: "g",
		Reason: "by hand", OrderedAt: timestamppb.New(time.Unix(1e9, 0)),
		PredictedGain: durationpb.New(90 * time.Second),
	}
	if f.polls > 2 {
		m.State = f.outcome
	}
	if m.GetState() == droverv1.MoveState_MOVE_STATE_ABORTED {
		m.AbortedWhy = "it has started"
	}
	return &droverv1.AgentServiceListMovesResponse{
		Moves: []*droverv1.Move{m, {
			JobId: movingJob, Service: "lu", From: "nancy", To: "lyon", Epoch: 1,
			State: droverv1.MoveState_MOVE_STATE_MOVED, Reason: "drain",
			RealizedGain: durationpb.New(-time.Second),
		}},
		Missing: []*droverv1.Candidate{
			{Site: "rennes", Missing: &droverv1.Missing{Reason: droverv1.MissingReason_MISSING_REASON_TIMEOUT}},
		},
	}, nil
}

func (f agentFace) SetDraining(
	_ context.Context, req *droverv1.AgentServiceSetDrainingRequest,
) (*droverv1.AgentServiceSetDrainingResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if req.GetSite() != "lyon" {
		return nil, refuse(connect.CodeNotFound, &droverv1.ErrorDetail{
			Reason: "unknown-site", Message: "no site " + req.GetSite(),
		})
	}
	q := &droverv1.SiteStatus{Running: 1, Waiting: f.waiting, Draining: req.GetDraining()}
	if req.GetDraining() {
		f.waiting = max(0, f.waiting-1)
	}
	return &droverv1.AgentServiceSetDrainingResponse{Status: q}, nil
}

func (f agentFace) SettleJob(
	_ context.Context, req *droverv1.AgentServiceSettleJobRequest,
) (*droverv1.AgentServiceSettleJobResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settled = req
	return &droverv1.AgentServiceSettleJobResponse{Job: &droverv1.Job{
		Id: movingJob, Site: "nancy", State: droverv1.JobState_JOB_STATE_WAITING,
	}}, nil
}

func (f agentFace) FindJob(context.Context, *droverv1.FindJobRequest) (*droverv1.FindJobResponse, error) {
	return &droverv1.FindJobResponse{
		Target: &droverv1.Target{Site: "lyon", Address: f.url}, Job: &droverv1.Job{Epoch: 2},
	}, nil
}

// ListJobs has two pages. On both, one site does not answer.
func (f agentFace) ListJobs(
	_ context.Context, req *droverv1.AgentServiceListJobsRequest,
) (*droverv1.AgentServiceListJobsResponse, error) {
	missing := []*droverv1.Candidate{{Site: "rennes", Missing: &droverv1.Missing{
		Reason: droverv1.MissingReason_MISSING_REASON_TIMEOUT,
		Detail: &droverv1.ErrorDetail{Message: "no answer in time"},
	}}}
	if req.GetPageToken() == "" {
		return &droverv1.AgentServiceListJobsResponse{
			Jobs: []*droverv1.Job{f.job()}, Missing: missing, NextPageToken: "2",
		}, nil
	}
	incoming := &droverv1.Job{
		Id: movingJob, State: droverv1.JobState_JOB_STATE_INCOMING, Site: "nancy", Peer: "lyon", Epoch: 2,
		CancelRecorded: true,
		UnknownFor:     durationpb.New(70 * time.Second),
	}
	return &droverv1.AgentServiceListJobsResponse{Jobs: []*droverv1.Job{incoming}, Missing: missing}, nil
}

func (f agentFace) ListSites(context.Context, *droverv1.ListSitesRequest) (*droverv1.ListSitesResponse, error) {
	return &droverv1.ListSitesResponse{Sites: []*droverv1.KnownSite{
		{Site: &droverv1.Site{Name: "lyon"}, Status: &droverv1.SiteStatus{
			Draining: true, Degraded: true, LaunchProblem: "too many open files", Commits: 7, Syncs: 3,
			ClockOffset: durationpb.New(time.Hour),
			Accuracy: []*droverv1.Accuracy{{
				Service: "lu", Jobs: 9, Kind: droverv1.EstimateKind_ESTIMATE_KIND_PROMISED, RunRatio: 0.5,
				Start: &droverv1.Errors{
					Bias: durationpb.New(5 * time.Second), P50: durationpb.New(time.Second),
					P90: durationpb.New(20 * time.Second),
				},
				Completion: &droverv1.Errors{
					Bias: durationpb.New(-time.Minute), P50: durationpb.New(time.Minute),
					P90: durationpb.New(time.Hour),
				},
			}},
		}},
		{
			Site: &droverv1.Site{Name: "nancy"}, HeardAgo: durationpb.New(time.Hour),
			Missing: &droverv1.Missing{Reason: droverv1.MissingReason_MISSING_REASON_TIMEOUT},
		},
	}}, nil
}

func (f serverFace) GetJob(context.Context, *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	return &droverv1.GetJobResponse{Job: f.job()}, nil
}

// WatchJob fails, as if the site's server were down.
func (f serverFace) WatchJob(
	context.Context, *droverv1.WatchJobRequest, *connect.ServerStream[droverv1.WatchJobResponse],
) error {
	return connect.NewError(connect.CodeUnavailable, errors.New("lost"))
}

func refuse(code connect.Code, d *droverv1.ErrorDetail) error {
	e := connect.NewError(code, errors.New(d.GetMessage()))
	if detail, err := connect.NewErrorDetail(d); err == nil {
		e.AddDetail(detail)
	}
	return e
}
