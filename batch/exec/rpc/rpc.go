// Package rpc translates the messages that supervisors and nodes share: the status of
// an attempt, and texts that need not be UTF-8.
package rpc

import (
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// StatusMessage is the message of a status.
func StatusMessage(st attempt.Status) *droverv1.AttemptStatus {
	return &droverv1.AttemptStatus{
		Condition: droverv1.AttemptCondition(st.Condition), ExitCode: int32(st.Code), Signal: int32(st.Signal),
		Reason:    st.Reason,
		StartTime: instantMessage(st.Started), EndTime: instantMessage(st.Ended), Pid: int32(st.Pid),
		Unsignaled: st.Unsignaled,
	}
}

// StatusOf reads a status; nil is the zero Status.
func StatusOf(m *droverv1.AttemptStatus) attempt.Status {
	return attempt.Status{
		Condition: attempt.Condition(m.GetCondition()), Code: int(m.GetExitCode()),
		Signal: syscall.Signal(m.GetSignal()), Reason: m.GetReason(),
		Started: instantOf(m.GetStartTime()), Ended: instantOf(m.GetEndTime()), Pid: int(m.GetPid()),
		Unsignaled: m.GetUnsignaled(),
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

// Bytes returns texts as bytes: arguments and paths need not be UTF-8.
func Bytes(list []string) [][]byte {
	all := make([][]byte, len(list))
	for i, s := range list {
		all[i] = []byte(s)
	}
	return all
}

// Strings is the reverse of Bytes.
func Strings(list [][]byte) []string {
	all := make([]string, len(list))
	for i, b := range list {
		all[i] = string(b)
	}
	return all
}
