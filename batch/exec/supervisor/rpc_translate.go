package supervisor

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func nameMessage(a attempt.Name) *droverv1.AttemptName {
	return &droverv1.AttemptName{
		JobId: string(a.Key.Job), Epoch: a.Key.Epoch, Attempt: a.Key.Attempt, Directory: []byte(a.Dir),
	}
}

// attemptOf refuses a name that names nothing.
func attemptOf(m *droverv1.AttemptName) (attempt.Name, error) {
	a := nameOf(m)
	if a.Key.Job == "" || !filepath.IsAbs(a.Dir) {
		return a, connect.NewError(connect.CodeInvalidArgument, errors.New("name: accepted: a job and an absolute directory"))
	}
	return a, nil
}

func nameOf(m *droverv1.AttemptName) attempt.Name {
	return attempt.Name{
		Key: batch.Key{Job: batch.JobID(m.GetJobId()), Epoch: m.GetEpoch(), Attempt: m.GetAttempt()},
		Dir: string(m.GetDirectory()),
	}
}

func launchMessage(a attempt.Name, spec order) *droverv1.LaunchAttemptRequest {
	return &droverv1.LaunchAttemptRequest{
		Name: nameMessage(a), Arguments: bytesOf(spec.Args), Path: []byte(spec.Path), Environment: bytesOf(spec.Env),
		WorkingDirectory: []byte(spec.Dir), Stdout: []byte(spec.Stdout), Stderr: []byte(spec.Stderr), Append: spec.Append,
		Groups: bytesOf(spec.groups), Lease: spec.token,
	}
}

func orderOf(m *droverv1.LaunchAttemptRequest) order {
	return order{groups: stringsOf(m.GetGroups()), token: m.GetLease(), Spec: process.Spec{
		Args: stringsOf(m.GetArguments()), Path: string(m.GetPath()), Env: stringsOf(m.GetEnvironment()),
		Dir: string(m.GetWorkingDirectory()), Stdout: string(m.GetStdout()), Stderr: string(m.GetStderr()), Append: m.GetAppend(),
	}}
}

// checkOrder refuses what depends on where the supervisor was started.
func checkOrder(s *order) error {
	if len(s.Args) == 0 {
		return errors.New("arguments: accepted: at least one")
	}
	for _, path := range []string{s.Dir, s.Stdout, s.Stderr} {
		if path != "" && !filepath.IsAbs(path) {
			return errors.New("directory and outputs: accepted: absolute paths")
		}
	}
	for _, path := range s.groups {
		if !filepath.IsAbs(path) || filepath.Base(path) != process.GroupFile || strings.ContainsAny(path, "\x00\n") {
			return errors.New("groups: accepted: absolute paths of files " + process.GroupFile)
		}
	}
	return nil
}

func statusMessage(st attempt.Status) *droverv1.AttemptStatus {
	return &droverv1.AttemptStatus{
		Condition: droverv1.AttemptCondition(st.Condition), ExitCode: int32(st.Code), Signal: int32(st.Signal), Reason: st.Reason,
		StartTime: instantMessage(st.Started), EndTime: instantMessage(st.Ended), Pid: int32(st.Pid),
	}
}

func statusOfMessage(m *droverv1.AttemptStatus) attempt.Status {
	return attempt.Status{
		Condition: attempt.Condition(m.GetCondition()), Code: int(m.GetExitCode()), Signal: syscall.Signal(m.GetSignal()), Reason: m.GetReason(),
		Started: instantOf(m.GetStartTime()), Ended: instantOf(m.GetEndTime()), Pid: int(m.GetPid()),
	}
}

func instantMessage(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func instantOf(m *timestamppb.Timestamp) time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.AsTime()
}

func bytesOf(list []string) [][]byte {
	all := make([][]byte, len(list))
	for i, s := range list {
		all[i] = []byte(s)
	}
	return all
}

func stringsOf(list [][]byte) []string {
	all := make([]string, len(list))
	for i, b := range list {
		all[i] = string(b)
	}
	return all
}
