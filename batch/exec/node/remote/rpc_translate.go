package remote

import (
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func nameMessage(id node.ID) *droverv1.TaskName {
	return &droverv1.TaskName{JobId: string(id.Key.Job), Epoch: id.Key.Epoch, Attempt: id.Key.Attempt, Rank: uint32(id.Rank)}
}

func idOf(m *droverv1.TaskName) node.ID {
	return node.ID{
		Key:  batch.Key{Job: batch.JobID(m.GetJobId()), Epoch: m.GetEpoch(), Attempt: m.GetAttempt()},
		Rank: int32(m.GetRank()),
	}
}

func launchMessage(c *droverv1.Claimant, t node.Task) *droverv1.LaunchTaskRequest {
	m := &droverv1.LaunchTaskRequest{
		Claimant: c, Name: nameMessage(t.ID), Arguments: bytesOf(t.Spec.Args), Environment: bytesOf(t.Spec.Env),
		WorkingDirectory: []byte(t.Spec.Dir), Stdout: []byte(t.Spec.Stdout), Stderr: []byte(t.Spec.Stderr), Append: t.Spec.Append,
		Cpu: int64(t.CPU), MemoryBytes: t.Memory, Lease: t.Token,
	}
	for _, n := range t.CPUs {
		m.Processors = append(m.Processors, uint32(n))
	}
	return m
}

func orderMessage(o order) *droverv1.Order {
	if o == (order{}) {
		return nil
	}
	return &droverv1.Order{Watch: o.watch, Number: o.number}
}

func statusOf(m *droverv1.AttemptStatus) attempt.Status {
	return attempt.Status{
		Condition: attempt.Condition(m.GetCondition()), Code: int(m.GetExitCode()), Signal: syscall.Signal(m.GetSignal()), Reason: m.GetReason(),
		Started: instantOf(m.GetStartTime()), Ended: instantOf(m.GetEndTime()), Pid: int(m.GetPid()),
	}
}

func instantOf(m *timestamppb.Timestamp) time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.AsTime()
}

func messageOf(m *droverv1.WatchNodeResponse) message {
	out := message{id: idOf(m.GetName()), watch: m.GetWatch()}
	if m.GetName() != nil {
		out.status = statusOf(m.GetStatus())
	}
	for _, u := range m.GetUse() {
		out.use = append(out.use, Measured{ID: idOf(u.GetName()), Waited: u.GetWaited().AsDuration(), Use: cgroup.Use{
			CPU: u.GetCpu().AsDuration(), Throttled: u.GetThrottled().AsDuration(), Periods: u.GetThrottledPeriods(),
			Memory: u.GetMemoryBytes(), Cache: u.GetCacheBytes(), Peak: u.GetPeakBytes(), OOMKills: u.GetOomKills(),
			Processes: int(u.GetProcesses()),
		}})
	}
	return out
}

func bytesOf(list []string) [][]byte {
	all := make([][]byte, len(list))
	for i, s := range list {
		all[i] = []byte(s)
	}
	return all
}
