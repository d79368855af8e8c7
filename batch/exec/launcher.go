package exec

import (
	"errors"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Launcher starts programs. Launch may take long and is called from a goroutine
// of its own for each attempt. Its error text goes to the job's owner: it names
// no path of the server.
//
// Nothing tells a Launch under way that the system closes: Close waits for it, so
// it had better end by itself when the server stops.
//
// An error says that the program does not run and never will. One that wraps
// ErrNeverRan says besides that this was no fault of the program.
type Launcher interface {
	Launch(spec Spec) (Launched, error)
}

// Launched is a program that was started, with everything it starts itself.
type Launched interface {
	// Signal sends sig to all of it. It returns os.ErrProcessDone, and sends
	// nothing, when the program has already ended. It is called by the loop, and
	// everything else waits until it returns.
	Signal(sig syscall.Signal) error
	// Wait returns when nothing of it is left. It is called once.
	Wait() Exit
}

// Detacher is a Process that can be left running without anybody who waits for
// it; see System.Release.
type Detacher interface {
	// Detach makes Wait return at once, with Exit.Detached unless the process had
	// ended before. Repeated, it does nothing.
	Detach()
}

// Sharer is a Process that can be held to what it is given of each node while it
// runs.
type Sharer interface {
	// SetShares holds it to the allocation, which may name other virtual nodes of the same
	// host than before: then it goes on there. Repeated, it does nothing. It is called
	// by the loop, which does not wait for anything that takes long: whoever has to go
	// over a network keeps the last ones and does so later.
	SetShares(allocation []batch.NodeAllocation) error
}

// ErrNodeGone is wrapped by the error of a launch that ran nothing, and never will,
// because a node that it was for has left meanwhile: the attempt waits again, at its
// old place.
var ErrNodeGone = errors.New("a node that it was to run on has left")

// ErrNeverRan is wrapped by the error of a launch that provably ran nothing,
// where a new attempt may: the attempt ends as batch.EndNeverRan. Any other error
// would come again, and ends it as batch.EndStartFailed.
var ErrNeverRan = errors.New("it never ran")

// Spec is a program with everything it is told.
type Spec struct {
	Key        batch.Key              // the attempt
	Shape      batch.Shape            // with which it is started
	Allocation []batch.NodeAllocation // and where, with the share of a processor that each task has
	Launch     batch.Launch           // how often
	// Memory is what each task was said to need, in bytes; 0 is not known. Groups, if not
	// nil, say so for each group of Places.
	Memory int64
	Groups []batch.TaskGroup

	Args   []string // argument vector; Args[0] is looked up in the server's PATH
	Env    []string // the whole environment, NAME=value, ascending
	Dir    string   // working directory, made if it is not there
	Stdout string   // file, truncated, with its parents made; "" discards
	Stderr string   // likewise; may be the same file
	Append bool     // nothing is truncated
}

// Exit is how a process ended.
type Exit struct {
	Code   int            // exit code, when Signal is 0
	Signal syscall.Signal // that ended it, or 0
	// Lost: it is gone, but nobody has seen how it ended. Code and Signal mean nothing.
	Lost bool
	// Reason, for people: why it is lost; of another failure, what is known of it beside
	// Code and Signal.
	Reason string
	// Unheard: it had ended before any signal reached it. So it was none of those that
	// ended it.
	Unheard bool
	// Detached: it may still run, but this Process does not follow it any more.
	// The rest means nothing.
	Detached bool
}
