package supervisor

import (
	"cmp"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// Attempt names one attempt to run a job, and where its file is.
type Attempt struct {
	Key batch.Key
	Dir string // absolute, of the job's attempt files; its parent is there
}

// File returns the name of the attempt's file in its directory.
func (a Attempt) File() string { return journal.Name(a.Key.Epoch, a.Key.Attempt) }

// mark is what the attempt's processes have in their environment.
func (a Attempt) mark() string { return string(a.Key.Job) + "/" + a.File() }

// Condition is what became of an attempt.
type Condition uint8

// The conditions of an attempt.
const (
	Unclaimed Condition = iota + 1 // nobody has claimed it
	Barred                         // the server has claimed it: it never runs
	NeverRan                       // claimed to be run, it did not and never will
	Failed                         // it could not be executed, and could not be again
	Running
	Exited   // with Status.Code
	Signaled // ended by Status.Signal
	Lost     // it may have run, is gone, and nobody saw its end
)

// String returns the condition for a log.
func (c Condition) String() string {
	names := [...]string{"unknown", "unclaimed", "barred", "never-ran", "failed", "running", "exited", "signaled", "lost"}
	if int(c) < len(names) {
		return names[c]
	}
	return "condition " + strconv.Itoa(int(c))
}

// Status is what became of an attempt, in full.
type Status struct {
	Condition Condition
	Code      int
	Signal    syscall.Signal
	Reason    string    // for people, names no path; of NeverRan, Failed and Lost; of other ends what else is known
	Started   time.Time // when its process was made; of what has or had one
	Ended     time.Time
	Pid       int // of Running: who leads its process group
}

// statusOf translates a file that says an end.
func statusOf(s journal.State) Status {
	st := Status{Code: s.End.Code, Signal: signalNumber(s.End.Signal), Reason: s.End.Reason, Started: s.Started, Ended: s.End.At}
	switch s.End.Kind {
	case journal.Exited:
		st.Condition = Exited
	case journal.Signaled:
		st.Condition = Signaled
	case journal.Failed:
		st.Condition = Failed
	case journal.Never:
		st.Condition = NeverRan
	case journal.Lost:
		st.Condition = Lost
	}
	return st
}

// endOf translates the other way.
func endOf(st Status) journal.End {
	end := journal.End{Code: st.Code, Reason: st.Reason, At: st.Ended}
	switch st.Condition {
	case Exited:
		end.Kind = journal.Exited
	case Signaled:
		end.Kind, end.Signal = journal.Signaled, signalName(st.Signal)
	case Failed:
		end.Kind = journal.Failed
	case NeverRan:
		end.Kind = journal.Never
	case Lost:
		end.Kind = journal.Lost
	}
	return end
}

// signalName names those too that have only a number, such as SIGRTMIN+1.
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

// statusOfExit is how a program ended that this process has watched.
func statusOfExit(e process.Exit, started, now time.Time) Status {
	st := Status{Condition: Exited, Code: e.Code, Started: started, Ended: now}
	if e.Signal != 0 {
		st.Condition, st.Code, st.Signal = Signaled, 0, e.Signal
	}
	return st
}

func (a Attempt) compare(b Attempt) int {
	return cmp.Or(cmp.Compare(a.Key.Job, b.Key.Job), cmp.Compare(a.Key.Epoch, b.Key.Epoch), cmp.Compare(a.Key.Attempt, b.Key.Attempt))
}
