package rpc

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// statesOut maps the core's states to the wire.
var statesOut = map[site.State]droverv1.JobState{
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

// Estimate returns when a request would complete here.
func (h handler) Estimate(ctx context.Context, req *droverv1.EstimateRequest) (*droverv1.EstimateResponse, error) {
	r, err := RequestIn(req.GetRequest())
	if err != nil {
		return nil, err
	}
	q, err := h.s.Estimate(ctx, r, durationIn(req.GetNotBefore()))
	if err != nil {
		return nil, err
	}
	if q.Refusal != nil {
		refused := &droverv1.Quote{Refusal: rpc.DetailOf(q.Refusal)}
		return &droverv1.EstimateResponse{Quote: refused}, nil //nolint:nilerr // a refusal is an answer
	}
	out := quoteOut(&q.Quote)
	out.StateAge = rpc.Duration(q.Age)
	res := &droverv1.EstimateResponse{Quote: out}
	if q.Accuracy != nil {
		res.Accuracy = accuracyOut(q.Accuracy)
	}
	return res, nil
}

// Declines reports whether a problem means that the site would not accept the request,
// as opposed to a site that cannot answer now.
func Declines(p *problem.Problem) bool {
	switch p.Reason.Class() {
	case problem.Invalid, problem.NotFound, problem.Conflict, problem.Precondition, problem.Exhausted:
		return true
	}
	return p.Reason == problem.Draining || p.Reason == problem.ServiceWithdrawn
}

// quoteOut returns a quote for the wire, without the age of its state.
func quoteOut(q *site.Quote) *droverv1.Quote {
	return &droverv1.Quote{
		Width: q.Shape.Width, Walltime: rpc.Duration(q.Shape.Walltime),
		Wait: rpc.Duration(q.Wait), Run: rpc.Duration(q.Run), Completion: rpc.Duration(q.Completion),
		Kind: rpc.EstimateKind(q.Kind), Probability: q.P,
	}
}

// Submit accepts a request as a job.
func (h handler) Submit(ctx context.Context, req *droverv1.SubmitRequest) (*droverv1.SubmitResponse, error) {
	r, err := RequestIn(req.GetRequest())
	if err != nil {
		return nil, err
	}
	var decision []byte
	if req.GetDecision() != nil {
		makePrintable(req.GetDecision())
		if decision, err = proto.Marshal(req.GetDecision()); err != nil {
			return nil, fmt.Errorf("decision record: %w", err)
		}
	}
	if err := checkSize(req, &site.Dossier{Request: *r, Decision: decision}); err != nil {
		return nil, err
	}
	j, err := h.s.Submit(ctx, site.Submission{ID: batch.JobID(req.GetJobId()), Request: r, Decision: decision})
	if err != nil {
		return nil, err
	}
	return &droverv1.SubmitResponse{Job: h.jobOut(&j)}, nil
}

// GetJob returns one job.
func (h handler) GetJob(ctx context.Context, req *droverv1.GetJobRequest) (*droverv1.GetJobResponse, error) {
	j, err := h.s.Job(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	return &droverv1.GetJobResponse{Job: h.jobOut(&j)}, nil
}

// ListJobs lists this site's jobs in the order of their submission. A page can be shorter than
// requested so that it fits into a message.
func (h handler) ListJobs(
	ctx context.Context, req *droverv1.ServerServiceListJobsRequest,
) (*droverv1.ServerServiceListJobsResponse, error) {
	size, err := rpc.PageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	filter, err := site.ParseFilter(req.GetFilter())
	if err != nil {
		return nil, err
	}
	out, sum := &droverv1.ServerServiceListJobsResponse{}, 0
	brief := req.GetView() == droverv1.JobView_JOB_VIEW_BRIEF
	about := pageFacts{site: h.s.About().Name, away: h.s.NodesAway()}
	out.NextPageToken, err = h.s.Jobs(ctx, filter, req.GetPageToken(), size, brief, func(job *site.Job) bool {
		j := about.brief(job)
		if !brief {
			h.complete(j, job)
		}
		if sum += proto.Size(j); sum > rpc.LargestMessage && len(out.Jobs) > 0 {
			return false
		}
		out.Jobs = append(out.Jobs, j)
		return true
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// WatchJob sends a job's state, and again after every change.
func (h handler) WatchJob(
	ctx context.Context, req *droverv1.WatchJobRequest, stream *connect.ServerStream[droverv1.WatchJobResponse],
) error {
	return h.s.WatchJob(ctx, req.GetJobId(), func(j *site.Job) error {
		return stream.Send(&droverv1.WatchJobResponse{Job: h.jobOut(j)})
	})
}

// CancelJob ends a job.
func (h handler) CancelJob(ctx context.Context, req *droverv1.CancelJobRequest) (*droverv1.CancelJobResponse, error) {
	j, err := h.s.Cancel(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	return &droverv1.CancelJobResponse{Job: h.jobOut(&j)}, nil
}

// jobOut returns a job for the wire.
func (h handler) jobOut(r *site.Job) *droverv1.Job {
	about := pageFacts{site: h.s.About().Name, away: h.s.NodesAway()}
	out := about.brief(r)
	h.complete(out, r)
	return out
}

// pageFacts are the same for all jobs of a page.
type pageFacts struct {
	site string
	away []string // nodes
}

// brief returns a job for the wire without what only its dossier has.
func (p *pageFacts) brief(r *site.Job) *droverv1.Job {
	out := &droverv1.Job{
		Id: string(r.ID), State: statesOut[r.State], Site: p.site,
		Request:     &droverv1.Request{Service: r.Service, Owner: r.Owner},
		Shape:       rpc.Shape(r.Shape),
		SubmittedAt: timeOut(r.Submitted), StartedAt: timeOut(r.Started), EndedAt: timeOut(r.Ended),
		EstimatedCompletion: rpc.Duration(r.Estimate.Completion), EstimatedWait: rpc.Duration(r.Estimate.Wait),
		EstimateKind: rpc.EstimateKind(r.Estimate.Kind),
		Epoch:        r.Epoch, Revision: r.Revision, Attempt: r.Attempt,
		CancelRecorded: r.Cancel && r.State != site.Cancelling, MovedTo: r.MovedTo(),
		Agreement: agreementsOut[r.Agreement()],
	}
	if r.Transit != nil && r.State != site.Gone {
		out.Peer = r.Transit.Peer
	}
	for _, m := range r.Moves() {
		out.Moves = append(out.Moves, moveOut(r.ID, r.Service, &m))
	}
	if r.Run != nil {
		out.Nodes = r.Run.Nodes
	}
	if r.State == site.Waiting {
		out.NodesAway = p.away
	}
	out.Awaits, out.Retried = awaitsOut(r.Awaits()), uint32(r.Retried)
	if past := r.Past; past != nil {
		out.StartedAt, out.Checkpoints, out.CheckpointedAfter = timeOut(r.Begun()), past.Stops, rpc.Duration(past.Done)
	}
	if r.State.Final() && r.State != site.Gone {
		o := r.Outcome()
		out.Outcome = &droverv1.Outcome{ExitCode: int32(o.ExitCode), Signal: o.Signal, Reason: o.Reason}
	}
	return out
}

// complete adds to a brief job what its dossier has, its needs and its outputs.
func (h handler) complete(out *droverv1.Job, r *site.Job) {
	if request := &r.Dossier.Request; request.Service != "" { // not a tombstone
		out.Request, out.RetryOf = requestOut(request), request.RetryOf
	}
	out.Decision, out.Needs = decisionOut(r.Dossier.Decision), h.needsOut(r)
	if r.Run == nil {
		return
	}
	for _, o := range r.Run.Outputs {
		out.Outputs = append(out.Outputs, &droverv1.Output{
			Argument: o.Argument, SizeBytes: o.Size, Sha256: o.SHA256, Element: elementsOut[o.Layout.Element],
			Dimensions: o.Layout.Dims, DataId: o.Data,
		})
	}
}

// decisionOut returns a stored decision record for the wire, nil if there is none. It cannot fail
// to parse, because this package wrote it.
func decisionOut(stored []byte) *droverv1.DecisionRecord {
	if stored == nil {
		return nil
	}
	out := &droverv1.DecisionRecord{}
	if err := proto.Unmarshal(stored, out); err != nil {
		return nil
	}
	return out
}

// needsOut returns the needs of a job's tasks for the wire; nil for a tombstone.
func (h handler) needsOut(j *site.Job) *droverv1.TaskNeeds {
	if j.Needs == nil {
		return nil
	}
	out := &droverv1.TaskNeeds{DeclaredCpu: 1, DeclaredMemoryBytes: j.Needs.Memory}
	if cpu := j.Needs.CPU; cpu > 0 {
		out.DeclaredCpu = shareOut(cpu)
	}
	if m, known := h.s.Measured(j); known {
		out.MeasuredCpu, out.MeasuredMemoryBytes = shareOut(m.CPU), m.Memory
	}
	return out
}
