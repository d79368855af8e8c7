package daemon

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func ownerOf(m *droverv1.Claimant) Owner { return Owner{Site: m.GetSite(), ID: m.GetId()} }

func orderOf(m *droverv1.Order) order { return order{m.GetWatch(), m.GetNumber()} }

func idOf(m *droverv1.TaskName) node.ID {
	return node.ID{
		Key:  batch.Key{Job: batch.JobID(m.GetJobId()), Epoch: m.GetEpoch(), Attempt: m.GetAttempt()},
		Rank: int32(m.GetRank()), // a negative one is refused by whoever looks
	}
}

func nameMessage(id node.ID) *droverv1.TaskName {
	return &droverv1.TaskName{JobId: string(id.Key.Job), Epoch: id.Key.Epoch, Attempt: id.Key.Attempt, Rank: uint32(id.Rank)}
}

func taskOf(m *droverv1.LaunchTaskRequest) (node.Task, error) {
	t := node.Task{
		ID: idOf(m.GetName()), CPU: cgroup.CPU(m.GetCpu()), Memory: m.GetMemoryBytes(), Token: m.GetLease(),
		Spec: exec.Spec{
			Args: stringsOf(m.GetArguments()), Env: stringsOf(m.GetEnvironment()),
			Dir: string(m.GetWorkingDirectory()), Stdout: string(m.GetStdout()), Stderr: string(m.GetStderr()), Append: m.GetAppend(),
		},
	}
	for _, n := range m.GetProcessors() {
		t.CPUs = append(t.CPUs, int(n))
	}
	for _, path := range []string{t.Spec.Dir, t.Spec.Stdout, t.Spec.Stderr} {
		if path != "" && !filepath.IsAbs(path) {
			return t, &node.InvalidError{Err: errors.New("directory and outputs: accepted: absolute paths")}
		}
	}
	return t, t.Validate()
}

func statusMessage(st attempt.Status) *droverv1.AttemptStatus {
	return &droverv1.AttemptStatus{
		Condition: droverv1.AttemptCondition(st.Condition), ExitCode: int32(st.Code), Signal: int32(st.Signal), Reason: st.Reason,
		StartTime: instantMessage(st.Started), EndTime: instantMessage(st.Ended), Pid: int32(st.Pid),
	}
}

func instantMessage(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func useMessage(id node.ID, u cgroup.Use, waited time.Duration) *droverv1.TaskUse {
	return &droverv1.TaskUse{
		Name: nameMessage(id), Cpu: durationpb.New(u.CPU), Throttled: durationpb.New(u.Throttled), ThrottledPeriods: u.Periods,
		MemoryBytes: u.Memory, CacheBytes: u.Cache, PeakBytes: u.Peak, OomKills: u.OOMKills, Processes: int32(u.Processes), Waited: durationpb.New(waited),
	}
}

func stringsOf(list [][]byte) []string {
	all := make([]string, len(list))
	for i, b := range list {
		all[i] = string(b)
	}
	return all
}

// reason is an error's text without paths of this host.
func reason(err error) string {
	var group *cgroup.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &group) && group.Kind != nil:
		return group.Op + ": " + group.Kind.Error()
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}
