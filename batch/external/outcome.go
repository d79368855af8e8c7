package external

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
)

// cancelledOutcome is that of an attempt that Drover cancelled.
var cancelledOutcome = batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}

// verdict is how certain an outcome is.
type verdict uint8

const (
	decided    verdict = iota + 1 // the outcome is final
	neverBegan                    // it did not begin as far as is known; the server has to claim it first
	undecided                     // it began, and its own record of the end is missing
)

// evidence is all that is known about an attempt that the cluster has a record of.
type evidence struct {
	record    *Record
	progress  Progress       // what the attempt recorded
	withFiles bool           // attempts record their progress; else progress is empty
	title     string         // of the cluster
	limit     batch.Duration // time limit in the cluster
	cancelled bool           // by Drover
	twice     bool           // record is about a second start, which ran nothing
}

// judge determines how an attempt ended.
//
// For exits the attempt's own record counts more: the cluster knows the script's exit
// and counts its own signals as failures. Only the cluster knows why it ended an
// attempt. Without files an attempt counts as begun once it got nodes.
func (c *evidence) judge() (verdict, batch.Outcome) {
	r, p := c.record, &c.progress
	began := !p.Began.IsZero() || !c.withFiles && len(r.Nodes) > 0
	if !p.Ended.IsZero() && p.Outcome.End == batch.EndDone {
		return decided, p.Outcome // whatever happened afterwards
	}
	if c.twice && began {
		return c.judgeFirstStart()
	}
	switch r.Cause {
	case TimedOut:
		if began {
			return decided, c.outcome(batch.EndKilled, "walltime of "+c.limit.String())
		}
	case Deadline:
		return decided, c.outcome(batch.EndFailed, "deadline of the cluster")
	case OutOfMemory:
		if began {
			out := c.outcome(batch.EndFailed, "out of memory")
			out.Signal = "SIGKILL"
			return decided, out
		}
	case Cancelled:
		switch {
		case c.cancelled:
			return decided, cancelledOutcome
		case c.withFiles && !began && len(r.Nodes) > 0:
			// It got nodes and could not be launched there, as after a crash of the
			// controller, and must not be requeued.
			return neverBegan, c.outcome(batch.EndNeverRan, "it got nodes and was not launched")
		default:
			return decided, c.outcome(batch.EndCancelled, "cancelled by another user")
		}
	case NodeFailed:
		if began {
			return decided, c.outcome(batch.EndLost, "its node failed")
		}
	case Preempted:
		if began {
			return decided, c.outcome(batch.EndLost, "preempted")
		}
	case Revoked:
		if began {
			return decided, c.outcome(batch.EndLost, "taken over by another cluster")
		}
	}
	switch {
	case !p.Ended.IsZero():
		return decided, p.Outcome
	case !began:
		return neverBegan, c.outcome(batch.EndNeverRan, "it was not launched: "+launchFailure(r))
	case c.withFiles:
		return undecided, c.exit() // the script ends as the program does
	}
	return decided, c.exit()
}

// judgeFirstStart determines how the first of two starts ended; the record is about the
// second. A cluster kills processes that it finds on a node and does not know.
func (c *evidence) judgeFirstStart() (verdict, batch.Outcome) {
	p := &c.progress
	lost := batch.Outcome{End: batch.EndLost, Reason: c.title + " lost sight of it while it ran, and started it again"}
	switch {
	case !p.Ended.IsZero() && p.Outcome.Signal == "":
		return decided, p.Outcome
	case c.cancelled:
		return decided, cancelledOutcome
	case p.Ended.IsZero():
		return undecided, lost
	}
	return decided, lost
}

// outcome returns an outcome with the cluster's state in its reason.
func (c *evidence) outcome(end batch.End, reason string) batch.Outcome {
	return batch.Outcome{End: end, Reason: reason + " (" + c.title + ": " + c.record.State + ")"}
}

// launchFailure says why a script ran nothing. Shells return 126 or 127 for a program
// that they cannot start.
func launchFailure(r *Record) string {
	switch r.Code {
	case 0:
		return cmp.Or(r.Reason, "no reason is given")
	case 126, 127:
		return fmt.Sprintf("exit status %d of its script: drover is not on the node, or not at the configured path",
			r.Code)
	}
	return fmt.Sprintf("exit status %d of its script", r.Code)
}

// exit is the outcome of a script by the cluster's record alone.
func (c *evidence) exit() batch.Outcome {
	r := c.record
	switch {
	case r.Signal != "":
		return batch.Outcome{End: batch.EndFailed, Signal: r.Signal, Reason: "signal " + r.Signal}
	case r.Code != 0:
		return batch.Outcome{End: batch.EndFailed, ExitCode: r.Code, Reason: "exit status " + strconv.Itoa(r.Code)}
	case r.Cause == Completed:
		return batch.Outcome{End: batch.EndDone}
	}
	return c.outcome(batch.EndFailed, cmp.Or(r.Reason, "failed"))
}
