package rpc

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

func micros(d *durationpb.Duration) batch.Duration { return batch.Duration(rpc.Micros(d)) }

func shapeIn(s *droverv1.Shape) batch.Shape {
	return batch.Shape{Width: s.GetWidth(), Walltime: micros(s.GetWalltime())}
}

// StateOf returns a job's state, Unsaid for one that this agent does not know.
func StateOf(s droverv1.JobState) mapping.State { return statesIn[s] }

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

var missingOut = map[mapping.Missing]droverv1.MissingReason{
	mapping.Timeout:     droverv1.MissingReason_MISSING_REASON_TIMEOUT,
	mapping.Unreachable: droverv1.MissingReason_MISSING_REASON_UNREACHABLE,
	mapping.Refused:     droverv1.MissingReason_MISSING_REASON_REFUSED,
}

// Absent is a site that gave no result, and why.
type Absent struct {
	Site    string
	Missing mapping.Missing
	Problem *problem.Problem
}

func (a *Absent) message() *droverv1.Missing {
	if a.Missing == mapping.Answered {
		return nil
	}
	return &droverv1.Missing{Reason: missingOut[a.Missing], Detail: rpc.DetailOf(a.Problem)}
}

func absentOut(list []Absent) []*droverv1.Candidate {
	var out []*droverv1.Candidate
	for i := range list {
		out = append(out, &droverv1.Candidate{Site: list[i].Site, Missing: list[i].message()})
	}
	return out
}

// Target is a site and the URL of its server.
type Target struct{ Site, Address string }

func (t Target) message() *droverv1.Target { return &droverv1.Target{Site: t.Site, Address: t.Address} }
