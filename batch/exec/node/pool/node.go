package pool

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

// ID names one process of an attempt.
type ID struct {
	Key  batch.Key
	Rank int32 // from 0
}

// TaskSpec is one process of an attempt, for one node.
type TaskSpec struct {
	ID ID
	// Spec is what to run. Its Places are those of this process, all on this node;
	// Processors times Share of them is what it may have of the processors there, and
	// Processors times memory what it may have of the memory.
	Spec exec.Spec
}

// Shares is what a process that runs may have from now on.
type Shares struct {
	ID         ID
	Allocation []batch.NodeAllocation // as in Task
}

// Node is one node of the site, as a pool uses it. Its methods may be called from
// several goroutines, and give up when ctx ends.
//
// The processes of a node live on a lease. A launch that was sent under a lease that
// has run out is not carried out under a later one.
type Node interface {
	// Renew renews the lease, and proves that the node answers. When it has returned
	// without an error, all that this and earlier calls, those too that were never
	// answered, can have brought about is that processes live until the lease is over,
	// counted from the return; see Config.Lease. An *UnfitError is as none, but that
	// nothing can be launched.
	Renew(ctx context.Context, lease time.Duration) error
	// Launch runs a process once, however often it is asked to. Errors are as of
	// exec.Launcher: one says that it does not run and never will, with
	// exec.ErrNodeGone if nothing was sent, and with exec.ErrNeverRan if something was.
	// What cannot be known, because the node did not answer or ctx has ended, is a
	// Process.
	Launch(ctx context.Context, t TaskSpec) (exec.Launched, error)
	// Attach says what became of a process, and returns it if it runs. An error means
	// that nobody knows.
	Attach(ctx context.Context, id ID) (attempt.Status, exec.Launched, error)
	// Bar makes the claim of a process, so that it never runs, unless it is claimed
	// already. Won says that it never has run, nor will. An error means that nobody
	// knows.
	Bar(ctx context.Context, id ID) (won bool, err error)
	// SetShares sets the shares of many. Those that have ended are passed over. Of two
	// calls the later one counts, whatever the network delivers last.
	SetShares(ctx context.Context, all []Shares) error
}

// A Process of a node (exec.Process, and exec.Detacher) outlives the connection: Wait
// returns when the node has said how it has ended, however often it was out of reach
// in between, or when it is detached. Its Signal may take as long as a message does, and
// is passed over when it arrives after a later one.

// UnfitError says that a node answers, and that what runs there goes on, but that no
// task can be started.
type UnfitError struct{ Why string }

func (e *UnfitError) Error() string { return "it can start nothing: " + e.Why }
