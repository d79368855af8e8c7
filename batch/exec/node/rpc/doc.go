// Package rpc carries the calls between a server and the daemon of a node. [Client] and
// the handler of [NewServer] mirror each other, method by method:
//
//	remote.Node ── Client ──HTTP/2──▶ handler ── Service (daemon.Daemon)
package rpc

import (
	"context"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Service is what a daemon does for a server. Calls may overlap. All but Describe and
// Renew refuse every claimant except the node's owner: with *node.OwnedError,
// *node.NameError or node.ErrUnclaimed.
type Service interface {
	Describe() node.Description
	// Renew claims the node, if it is free, and renews the lease of its tasks.
	Renew(ctx context.Context, c node.Claimant, t attempt.Token, d time.Duration) (node.Renewal, error)
	// Launch runs a task at most once and returns what became of it. An error says
	// nothing about the task: the call may be repeated.
	Launch(ctx context.Context, c node.Claimant, t node.TaskSpec) (attempt.Status, error)
	Attach(ctx context.Context, c node.Claimant, id node.ID) (attempt.Status, error)
	// Bar claims a task for the server; won means that the task never runs.
	Bar(c node.Claimant, id node.ID) (won bool, err error)
	// Signal returns os.ErrProcessDone when the task has ended, and node.ErrStale.
	Signal(c node.Claimant, id node.ID, sig syscall.Signal, n node.Sequence) error
	// SetShares skips tasks that have ended. It returns node.ErrStale.
	SetShares(c node.Claimant, all []node.Share, n node.Sequence) ([]node.Refusal, error)
	// Watch begins a watch; use is the interval between measurements, 0 for none.
	Watch(c node.Claimant, use time.Duration) (Watch, error)
}

// Watch collects updates from its creation on.
type Watch interface {
	Number() uint64
	// Next waits for updates. It returns node.ErrSlow or node.ErrStopping at the end.
	Next(ctx context.Context) ([]node.Update, error)
	Close()
}

func claimantMessage(c node.Claimant) *droverv1.Claimant {
	return &droverv1.Claimant{Site: c.Site, Id: c.ID, Node: c.Node}
}

func claimantOf(m *droverv1.Claimant) node.Claimant {
	return node.Claimant{Site: m.GetSite(), ID: m.GetId(), Node: m.GetNode()}
}

func sequenceMessage(s node.Sequence) *droverv1.Order {
	if s == (node.Sequence{}) {
		return nil
	}
	return &droverv1.Order{Watch: s.Watch, Number: s.Number}
}

func sequenceOf(m *droverv1.Order) node.Sequence {
	return node.Sequence{Watch: m.GetWatch(), Number: m.GetNumber()}
}

func idMessage(id node.ID) *droverv1.TaskName {
	return &droverv1.TaskName{
		JobId: string(id.Key.Job), Epoch: id.Key.Epoch, Attempt: id.Key.Attempt, Rank: uint32(id.Rank),
	}
}

func idOf(m *droverv1.TaskName) node.ID {
	return node.ID{
		Key:  batch.Key{Job: batch.JobID(m.GetJobId()), Epoch: m.GetEpoch(), Attempt: m.GetAttempt()},
		Rank: int32(m.GetRank()), // ID.Validate refuses a negative one
	}
}

func taskMessage(c node.Claimant, t node.TaskSpec) *droverv1.LaunchTaskRequest {
	m := &droverv1.LaunchTaskRequest{
		Claimant: claimantMessage(c), Name: idMessage(t.ID), Arguments: rpc.Bytes(t.Spec.Args),
		Environment:      rpc.Bytes(t.Spec.Env),
		WorkingDirectory: []byte(t.Spec.Dir), Stdout: []byte(t.Spec.Stdout), Stderr: []byte(t.Spec.Stderr),
		Append: t.Spec.Append,
		Cpu:    int64(t.CPU), MemoryBytes: t.Memory, Lease: t.Token,
	}
	for _, n := range t.CPUs {
		m.Processors = append(m.Processors, uint32(n))
	}
	return m
}

func taskOf(m *droverv1.LaunchTaskRequest) node.TaskSpec {
	t := node.TaskSpec{
		ID: idOf(m.GetName()), CPU: cgroup.CPU(m.GetCpu()), Memory: m.GetMemoryBytes(), Token: m.GetLease(),
		Spec: exec.Spec{
			Args: rpc.Strings(m.GetArguments()), Env: rpc.Strings(m.GetEnvironment()),
			Dir: string(m.GetWorkingDirectory()), Stdout: string(m.GetStdout()), Stderr: string(m.GetStderr()),
			Append: m.GetAppend(),
		},
	}
	for _, n := range m.GetProcessors() {
		t.CPUs = append(t.CPUs, int(n))
	}
	return t
}

func updateMessage(u *node.Update) *droverv1.WatchNodeResponse {
	m := &droverv1.WatchNodeResponse{Watch: u.Watch}
	if u.Status.Condition != 0 {
		m.Name, m.Status = idMessage(u.ID), rpc.StatusMessage(u.Status)
	}
	for _, u := range u.Use {
		m.Use = append(m.Use, &droverv1.TaskUse{
			Name: idMessage(u.ID), Cpu: durationpb.New(u.Use.CPU), Throttled: durationpb.New(u.Use.Throttled),
			ThrottledPeriods: u.Use.Periods,
			MemoryBytes:      u.Use.Memory, CacheBytes: u.Use.Cache, PeakBytes: u.Use.Peak, OomKills: u.Use.OOMKills,
			Processes: int32(u.Use.Processes), Waited: durationpb.New(u.Waited),
		})
	}
	return m
}

func updateOf(m *droverv1.WatchNodeResponse) node.Update {
	out := node.Update{ID: idOf(m.GetName()), Watch: m.GetWatch()}
	if m.GetName() != nil {
		out.Status = rpc.StatusOf(m.GetStatus())
	}
	for _, u := range m.GetUse() {
		out.Use = append(out.Use, node.Measurement{
			ID: idOf(u.GetName()), Waited: u.GetWaited().AsDuration(), Use: cgroup.Use{
				CPU: u.GetCpu().AsDuration(), Throttled: u.GetThrottled().AsDuration(),
				Periods: u.GetThrottledPeriods(),
				Memory:  u.GetMemoryBytes(), Cache: u.GetCacheBytes(), Peak: u.GetPeakBytes(),
				OOMKills:  u.GetOomKills(),
				Processes: int(u.GetProcesses()),
			},
		})
	}
	return out
}
