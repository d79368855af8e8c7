package server

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/rpcface"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// The sizes of a page.
const (
	defaultPage = 100
	largestPage = 1000
)

// kindsOut and statesOut translate the core's words.
var (
	kindsOut = map[batch.Kind]droverv1.EstimateKind{
		batch.Promised: droverv1.EstimateKind_ESTIMATE_KIND_PROMISED,
		batch.Planned:  droverv1.EstimateKind_ESTIMATE_KIND_PLANNED,
		batch.Probable: droverv1.EstimateKind_ESTIMATE_KIND_PROBABLE,
		batch.Forecast: droverv1.EstimateKind_ESTIMATE_KIND_FORECAST,
	}
	statesOut = map[site.State]droverv1.JobState{
		site.Waiting:    droverv1.JobState_JOB_STATE_WAITING,
		site.Starting:   droverv1.JobState_JOB_STATE_STARTING,
		site.Running:    droverv1.JobState_JOB_STATE_RUNNING,
		site.Done:       droverv1.JobState_JOB_STATE_DONE,
		site.Failed:     droverv1.JobState_JOB_STATE_FAILED,
		site.Killed:     droverv1.JobState_JOB_STATE_KILLED,
		site.Cancelling: droverv1.JobState_JOB_STATE_CANCELLING,
		site.Cancelled:  droverv1.JobState_JOB_STATE_CANCELLED,
		site.Held:       droverv1.JobState_JOB_STATE_HELD,
		site.Moving:     droverv1.JobState_JOB_STATE_MOVING,
		site.Yielding:   droverv1.JobState_JOB_STATE_YIELDING,
		site.Gone:       droverv1.JobState_JOB_STATE_GONE,
		site.Incoming:   droverv1.JobState_JOB_STATE_INCOMING,
	}
)

// Estimate answers when a request would be finished here.
func (f face) Estimate(ctx context.Context, req *droverv1.EstimateRequest) (*droverv1.EstimateResponse, error) {
	r, err := requestIn(req.GetRequest())
	if err != nil {
		return nil, err
	}
	notBefore, err := durationIn("not_before", req.GetNotBefore())
	if err != nil {
		return nil, err
	}
	q, err := f.s.estimate(ctx, r, notBefore)
	var refusal *site.Refusal
	if p, _ := asProblem(err); err != nil && (errors.As(err, &refusal) || p.Reason == rpcface.QueueFull) {
		return &droverv1.EstimateResponse{Quote: &droverv1.Quote{Refusal: rpcface.DetailOf(p)}}, nil
	}
	if err != nil {
		return nil, err
	}
	return &droverv1.EstimateResponse{Quote: &droverv1.Quote{
		Width: q.Shape.Width, Walltime: durationOut(q.Shape.Walltime),
		Wait: durationOut(q.Wait), Run: durationOut(q.Run), Completion: durationOut(q.Completion),
		Kind: kindsOut[q.Kind], Probability: q.P, StateAge: durationOut(q.age),
	}}, nil
}

// Submit accepts a request as a job.
func (f face) Submit(ctx context.Context, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	r, err := requestIn(req.GetRequest())
	if err != nil {
		return nil, err
	}
	var decision []byte
	if req.GetDecision() != nil {
		if decision, err = proto.Marshal(req.GetDecision()); err != nil {
			return nil, fmt.Errorf("decision record: %w", err)
		}
	}
	rec, err := f.s.submit(ctx, submission{id: req.GetJobId(), request: r, decision: decision})
	if err != nil {
		return nil, err
	}
	return &droverv1.SubmitResponse{Job: f.s.jobOut(rec)}, nil
}

// GetJob returns one job.
func (f face) GetJob(ctx context.Context, req *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	rec, err := f.s.job(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	return &droverv1.GetJobResponse{Job: f.s.jobOut(rec)}, nil
}

// ListJobs lists this site's jobs in the order of their submission.
func (f face) ListJobs(ctx context.Context, req *droverv1.ServerServiceListJobsRequest) (*droverv1.ServerServiceListJobsResponse, error) {
	size := int(req.GetPageSize())
	switch {
	case size < 0 || size > largestPage:
		return nil, &rpcface.Problem{
			Reason: rpcface.OutOfRange, Field: "page_size", Accepted: fmt.Sprintf("0 (for %d) to %d", defaultPage, largestPage),
			Message: fmt.Sprintf("page_size: %d", size),
		}
	case size == 0:
		size = defaultPage
	}
	filter, err := site.ParseFilter(req.GetFilter())
	if err != nil {
		return nil, err
	}
	page, next, err := f.s.list(ctx, filter, req.GetPageToken(), size)
	if err != nil {
		return nil, err
	}
	out := &droverv1.ServerServiceListJobsResponse{NextPageToken: next}
	for _, rec := range page {
		out.Jobs = append(out.Jobs, f.s.jobOut(rec))
	}
	return out, nil
}

// WatchJob sends a job as it is, and again after every change.
func (f face) WatchJob(ctx context.Context, req *droverv1.WatchJobRequest, stream *connect.ServerStream[droverv1.WatchJobResponse]) error {
	return f.s.watch(ctx, req.GetJobId(), func(rec record) error {
		return stream.Send(&droverv1.WatchJobResponse{Job: f.s.jobOut(rec)})
	})
}

// CancelJob ends a job.
func (f face) CancelJob(ctx context.Context, req *droverv1.CancelJobRequest) (*droverv1.CancelJobResponse, error) {
	rec, err := f.s.cancel(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	return &droverv1.CancelJobResponse{Job: f.s.jobOut(rec)}, nil
}

// jobOut returns a job for the wire.
func (s *Server) jobOut(r record) *droverv1.Job {
	out := &droverv1.Job{
		Id: string(r.ID), State: statesOut[r.State], Site: s.cfg.Name, Request: requestOut(&r.Request), Shape: shapeOut(r.Spec.Shape),
		SubmittedAt: timeOut(r.Submitted), StartedAt: timeOut(r.Started), EndedAt: timeOut(r.Ended),
		EstimatedCompletion: durationOut(r.Estimate.Completion), EstimatedWait: durationOut(r.Estimate.Wait),
		EstimateKind: kindsOut[r.Estimate.Kind],
		Nodes:        r.Nodes, Epoch: r.Epoch, Revision: r.Revision,
	}
	if r.State.Final() {
		out.Outcome = &droverv1.Outcome{ExitCode: int32(r.Outcome.ExitCode), Signal: r.Outcome.Signal, Reason: r.Outcome.Reason}
	}
	if r.Decision != nil {
		out.Decision = &droverv1.DecisionRecord{}
		if err := proto.Unmarshal(r.Decision, out.Decision); err != nil {
			s.log.Error("decision record cannot be read", "job", r.ID, "error", err)
		}
	}
	for _, o := range r.outputs {
		out.Outputs = append(out.Outputs, &droverv1.Output{Argument: o.argument, SizeBytes: o.size, Sha256: o.sha256})
	}
	return out
}
