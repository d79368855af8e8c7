// Package rpc carries the calls between a client and its supervisor. [Client] and the
// handler of [NewServer] mirror each other, method by method:
//
//	supervisor.Client ── Client ──unix socket──▶ handler ── Service (the supervisor)
package rpc

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/rpc"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

var (
	// ErrGone is wrapped by the error of a call that got no answer: the supervisor is
	// not there, or died.
	ErrGone = errors.New("the supervisor does not answer")
	// ErrSlow ends a watch when its client does not keep up.
	ErrSlow = errors.New("the watcher does not keep up")
)

// Service is what a supervisor does for its clients. Calls may overlap.
type Service interface {
	// Spawn runs an attempt at most once and returns what became of it. It returns
	// attempt.ErrNoLease when the lease does not cover the call.
	Spawn(ctx context.Context, name attempt.Name, spec attempt.Spec) (attempt.Status, error)
	// Attach returns what became of an attempt, and watches it if it runs.
	Attach(ctx context.Context, name attempt.Name) (attempt.Status, error)
	// Signal returns os.ErrProcessDone when the program has ended, and
	// attempt.ErrUnknown for an attempt that does not run here.
	Signal(name attempt.Name, sig syscall.Signal) error
	// Watch begins to collect the ends of attempts.
	Watch() Watch
	// Renew renews the lease and returns the token of the next renewal.
	Renew(t attempt.Token, d time.Duration) (next attempt.Token, held bool, err error)
	// Dismiss makes the supervisor end as soon as no program is left; with kill it ends
	// all programs first.
	Dismiss(kill bool)
}

// Watch collects ends from its creation on.
type Watch interface {
	// Next waits for ends. It returns ErrSlow when some were lost.
	Next(ctx context.Context) ([]attempt.End, error)
	Close()
}

func nameMessage(n attempt.Name) *droverv1.AttemptName {
	return &droverv1.AttemptName{
		JobId: string(n.Key.Job), Epoch: n.Key.Epoch, Attempt: n.Key.Attempt, Directory: []byte(n.Dir),
	}
}

func nameOf(m *droverv1.AttemptName) attempt.Name {
	return attempt.Name{
		Key: batch.Key{Job: batch.JobID(m.GetJobId()), Epoch: m.GetEpoch(), Attempt: m.GetAttempt()},
		Dir: string(m.GetDirectory()),
	}
}

func specMessage(n attempt.Name, spec attempt.Spec) *droverv1.LaunchAttemptRequest {
	return &droverv1.LaunchAttemptRequest{
		Name: nameMessage(n), Arguments: rpc.Bytes(spec.Args), Path: []byte(spec.Path),
		Environment:      rpc.Bytes(spec.Env),
		WorkingDirectory: []byte(spec.Dir), Stdout: []byte(spec.Stdout), Stderr: []byte(spec.Stderr),
		Append: spec.Append,
		Groups: rpc.Bytes(spec.Groups), Lease: spec.Token,
	}
}

func specOf(m *droverv1.LaunchAttemptRequest) attempt.Spec {
	return attempt.Spec{Groups: rpc.Strings(m.GetGroups()), Token: m.GetLease(), Spec: process.Spec{
		Args: rpc.Strings(m.GetArguments()), Path: string(m.GetPath()), Env: rpc.Strings(m.GetEnvironment()),
		Dir: string(m.GetWorkingDirectory()), Stdout: string(m.GetStdout()), Stderr: string(m.GetStderr()),
		Append: m.GetAppend(),
	}}
}
