package server

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// statesIn is the inverse of statesOut.
var statesIn = inverse(statesOut)

// public calls another server as clients do.
func (f *peerFace) public(url string) droverv1connect.ServerServiceClient {
	return rpc.Client(f.caller, droverv1connect.NewServerServiceClient, url)
}

// sight asks a server about a job. That it has none is no error.
func (f *peerFace) sight(ctx context.Context, url string, id batch.JobID) (sighting, error) {
	res, err := f.public(url).GetJob(ctx, &droverv1.GetJobRequest{JobId: string(id)})
	if err != nil && reasonOf(err) == problem.UnknownJob {
		return sighting{}, nil
	}
	if err != nil {
		return sighting{}, err
	}
	return sightingOf(res.GetJob()), nil
}

// listen has a server tell of a job until that has ended.
func (f *peerFace) listen(ctx context.Context, url string, id batch.JobID, hear func(sighting)) error {
	stream, err := f.public(url).WatchJob(ctx, &droverv1.WatchJobRequest{JobId: string(id)})
	if err != nil {
		return err
	}
	for stream.Receive() {
		hear(sightingOf(stream.Msg().GetJob()))
	}
	return errors.Join(stream.Err(), stream.Close())
}

func sightingOf(j *droverv1.Job) sighting {
	state, known := statesIn[j.GetState()]
	if !known { // of a later version: it is there
		state = site.Waiting
	}
	return sighting{state: state, epoch: j.GetEpoch()}
}

// reasonOf returns why another server has refused a call; "" of what is no refusal.
func reasonOf(err error) problem.Reason {
	var ce *connect.Error
	if !errors.As(err, &ce) {
		return ""
	}
	for _, d := range ce.Details() {
		v, err := d.Value()
		if detail, ok := v.(*droverv1.ErrorDetail); ok && err == nil {
			return problem.Reason(detail.GetReason())
		}
	}
	return ""
}

// afterIn translates the jobs that a request is to come after.
func afterIn(list []*droverv1.Dependency) ([]site.Dependency, error) {
	var out []site.Dependency
	for _, d := range list {
		switch d.GetCondition() {
		case droverv1.DependencyCondition_DEPENDENCY_CONDITION_UNSPECIFIED, droverv1.DependencyCondition_DEPENDENCY_CONDITION_DONE,
			droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY:
		default:
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: "request.after", Accepted: "the conditions DONE and ANY",
				Message: "request.after: a condition that this server does not know: " + d.GetCondition().String(),
			}
		}
		out = append(out, site.Dependency{
			Job: batch.JobID(d.GetJobId()), Any: d.GetCondition() == droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY,
		})
	}
	return out, nil
}

// afterOut is the inverse of afterIn.
func afterOut(list []site.Dependency) []*droverv1.Dependency {
	var out []*droverv1.Dependency
	for _, d := range list {
		condition := droverv1.DependencyCondition_DEPENDENCY_CONDITION_DONE
		if d.Any {
			condition = droverv1.DependencyCondition_DEPENDENCY_CONDITION_ANY
		}
		out = append(out, &droverv1.Dependency{JobId: string(d.Job), Condition: condition})
	}
	return out
}

// awaitsOut names the jobs that a job waits for, each once.
func awaitsOut(list []site.Dependency) []string {
	var out []string
	seen := make(map[batch.JobID]bool)
	for _, d := range list {
		if !seen[d.Job] {
			seen[d.Job] = true
			out = append(out, string(d.Job))
		}
	}
	return out
}
