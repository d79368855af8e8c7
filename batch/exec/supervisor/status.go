package supervisor

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// statusOf converts a file with an end.
func statusOf(s journal.State) attempt.Status {
	st := attempt.Status{
		Code: s.End.Code, Signal: signalNumber(s.End.Signal), Reason: s.End.Reason, Started: s.Started, Ended: s.End.At,
		Unsignaled: s.End.Unsignaled,
	}
	switch s.End.Kind {
	case journal.Exited:
		st.Condition = attempt.Exited
	case journal.Signaled:
		st.Condition = attempt.Signaled
	case journal.Failed:
		st.Condition = attempt.Failed
	case journal.Never:
		st.Condition = attempt.NeverRan
	case journal.Lost:
		st.Condition = attempt.Lost
	}
	return st
}

// endOf is the reverse of statusOf.
func endOf(st attempt.Status) journal.End {
	end := journal.End{Code: st.Code, Reason: st.Reason, Unsignaled: st.Unsignaled, At: st.Ended}
	switch st.Condition {
	case attempt.Exited:
		end.Kind = journal.Exited
	case attempt.Signaled:
		end.Kind, end.Signal = journal.Signaled, signalName(st.Signal)
	case attempt.Failed:
		end.Kind = journal.Failed
	case attempt.NeverRan:
		end.Kind = journal.Never
	case attempt.Lost:
		end.Kind = journal.Lost
	}
	return end
}

// signalName also names signals that have only a number, such as SIGRTMIN+1.
func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String()
}

func signalNumber(name string) syscall.Signal {
	if sig := unix.SignalNum(name); sig != 0 {
		return sig
	}
	var n int
	if _, err := fmt.Sscanf(name, "signal %d", &n); err != nil {
		return 0
	}
	return syscall.Signal(n)
}

// statusOfExit is the status of a program that this process has watched.
func statusOfExit(e process.Exit, started, now time.Time) attempt.Status {
	st := attempt.Status{Condition: attempt.Exited, Code: e.Code, Started: started, Ended: now}
	if e.Signal != 0 {
		st.Condition, st.Code, st.Signal = attempt.Signaled, 0, e.Signal
	}
	return st
}
