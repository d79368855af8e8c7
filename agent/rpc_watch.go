package agent

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// watchJobs has the server tell what becomes of its jobs until ctx ends or the
// stream breaks, which is the error. The first call of news has begin set, and
// the one with which all jobs have been told has synced set.
func (p *peer) watchJobs(ctx context.Context, news func(begin, synced bool, jobs []mapping.Digest)) error {
	stream, err := p.client.WatchJobs(ctx, &droverv1.WatchJobsRequest{})
	if err != nil {
		return fmt.Errorf("watch jobs: %w", err)
	}
	defer stream.Close()
	begin := true
	var jobs []mapping.Digest
	for stream.Receive() {
		jobs = jobs[:0]
		for _, d := range stream.Msg().GetJobs() {
			jobs = append(jobs, digestIn(d))
		}
		news(begin, stream.Msg().GetSynced(), jobs)
		begin = false
	}
	if err := stream.Err(); err != nil {
		return fmt.Errorf("watch jobs: %w", err)
	}
	return fmt.Errorf("watch jobs: the server has ended the stream")
}

func digestIn(d *droverv1.JobDigest) mapping.Digest {
	out := mapping.Digest{
		ID: d.GetId(), State: statesIn[d.GetState()], Epoch: d.GetEpoch(), Service: d.GetService(), Owner: d.GetOwner(),
		Shape:     batch.Shape{Width: d.GetShape().GetWidth(), Walltime: durationIn(d.GetShape().GetWalltime())},
		Submitted: microsIn(d.GetSubmittedAt()), To: d.GetMovedTo(),
	}
	if d.GetStartedAt() != nil {
		out.Started = microsIn(d.GetStartedAt())
	}
	return out
}

// rememberedJob returns what is remembered of a job at a site that has been
// silent for some time.
func rememberedJob(site string, d *mapping.Digest, unknown batch.Duration) *droverv1.Job {
	j := &droverv1.Job{
		Id: d.ID, State: stateOut(d.State), Site: site, Epoch: d.Epoch, MovedTo: d.To,
		Request:     &droverv1.Request{Service: d.Service, Owner: d.Owner},
		Shape:       &droverv1.Shape{Width: d.Shape.Width, Walltime: durationOut(d.Shape.Walltime)},
		SubmittedAt: microsOut(d.Submitted), UnknownFor: durationOut(unknown),
	}
	if d.Started != 0 {
		j.StartedAt = microsOut(d.Started)
	}
	return j
}

func microsIn(t *timestamppb.Timestamp) int64 { return t.GetSeconds()*1e6 + int64(t.GetNanos()/1000) }

func microsOut(us int64) *timestamppb.Timestamp {
	s, rest := us/1e6, us%1e6
	if rest < 0 {
		s, rest = s-1, rest+1e6
	}
	return &timestamppb.Timestamp{Seconds: s, Nanos: int32(rest) * 1000}
}

var statesIn = map[droverv1.JobState]mapping.State{
	droverv1.JobState_JOB_STATE_WAITING:    mapping.Waiting,
	droverv1.JobState_JOB_STATE_STARTING:   mapping.Starting,
	droverv1.JobState_JOB_STATE_RUNNING:    mapping.Running,
	droverv1.JobState_JOB_STATE_DONE:       mapping.Done,
	droverv1.JobState_JOB_STATE_FAILED:     mapping.Failed,
	droverv1.JobState_JOB_STATE_KILLED:     mapping.Killed,
	droverv1.JobState_JOB_STATE_CANCELLING: mapping.Cancelling,
	droverv1.JobState_JOB_STATE_CANCELLED:  mapping.Cancelled,
	droverv1.JobState_JOB_STATE_HELD:       mapping.Held,
	droverv1.JobState_JOB_STATE_MOVING:     mapping.Moving,
	droverv1.JobState_JOB_STATE_YIELDING:   mapping.Yielding,
	droverv1.JobState_JOB_STATE_GONE:       mapping.Gone,
	droverv1.JobState_JOB_STATE_INCOMING:   mapping.Incoming,
}

func stateOut(s mapping.State) droverv1.JobState {
	for out, in := range statesIn {
		if in == s {
			return out
		}
	}
	return droverv1.JobState_JOB_STATE_UNSPECIFIED
}
