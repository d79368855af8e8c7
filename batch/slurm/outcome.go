package slurm

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
)

// verdict is what can be said of an attempt that Slurm has done with.
type verdict uint8

const (
	ended    verdict = iota + 1 // its outcome is known
	notBegun                    // it did not begin as far as is known: it has to be barred before that is said
	notYet                      // it has begun, and what it writes at its end is not there
)

// judge says how an attempt ended by Slurm's word and its own. What the attempt
// has written itself counts more where both know of an exit: Slurm knows its
// script's, and sees a signal of its own making as a failure. Why it was ended only
// Slurm knows. An attempt without a witness is taken to have begun when Slurm gave
// it nodes. Of one that was started twice Slurm says how the second start has ended,
// which has run nothing.
func judge(e *Ended, t Testimony, witnessed bool, shape batch.Shape, cancelled, twice bool) (verdict, batch.Outcome) {
	began := !t.Began.IsZero() || !witnessed && e.NodeList != ""
	by := func(end batch.End, reason string) batch.Outcome {
		return batch.Outcome{End: end, Reason: reason + " (Slurm: " + e.State + ")"}
	}
	if !t.Ended.IsZero() && t.Outcome.End == batch.EndDone {
		return ended, t.Outcome // whatever came after it
	}
	if twice && began {
		switch {
		case !t.Ended.IsZero() && t.Outcome.Signal == "":
			return ended, t.Outcome
		case cancelled:
			return ended, batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
		}
		// Slurm kills what it finds on a node and does not know.
		lost := batch.Outcome{End: batch.EndLost, Reason: "Slurm has lost sight of it while it ran, and would have run it again"}
		if t.Ended.IsZero() {
			return notYet, lost
		}
		return ended, lost
	}
	switch e.State {
	case "TIMEOUT":
		if began {
			return ended, by(batch.EndKilled, "walltime of "+Limit(shape.Walltime).String())
		}
	case "DEADLINE":
		return ended, by(batch.EndFailed, "deadline of the cluster")
	case "OUT_OF_MEMORY":
		if began {
			out := by(batch.EndFailed, "out of memory")
			out.Signal = "SIGKILL"
			return ended, out
		}
	case "CANCELLED":
		switch {
		case cancelled:
			return ended, batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
		case witnessed && !began && e.NodeList != "":
			// Slurm cancels what it has given nodes and cannot launch there, as after a
			// crash of the controller, where it may not requeue.
			return notBegun, by(batch.EndNeverRan, "it was given nodes and not launched")
		default:
			return ended, by(batch.EndCancelled, "cancelled by somebody else")
		}
	case "NODE_FAIL", "BOOT_FAIL":
		if began {
			return ended, by(batch.EndLost, "its node failed")
		}
	case "PREEMPTED":
		if began {
			return ended, by(batch.EndLost, "preempted")
		}
	case "REVOKED":
		if began {
			return ended, by(batch.EndLost, "taken over by another cluster")
		}
	}
	switch {
	case !t.Ended.IsZero():
		return ended, t.Outcome
	case !began:
		return notBegun, by(batch.EndNeverRan, "it was not launched: "+unlaunched(e))
	case witnessed:
		return notYet, exited(e) // its script ends as it does
	}
	return ended, exited(e)
}

// unlaunched says why a script has run nothing. What the shell says of a program that
// is not there Slurm calls NonZeroExitCode.
func unlaunched(e *Ended) string {
	switch e.Code {
	case 0:
		return cmp.Or(e.Reason, "no reason is given")
	case 126, 127:
		return fmt.Sprintf("exit status %d of its script: drover is not on the node, or not where it should be", e.Code)
	}
	return fmt.Sprintf("exit status %d of its script", e.Code)
}

// exited is the outcome of a script by Slurm's word alone.
func exited(e *Ended) batch.Outcome {
	switch {
	case e.Signal != "":
		return batch.Outcome{End: batch.EndFailed, Signal: e.Signal, Reason: "signal " + e.Signal}
	case e.Code != 0:
		return batch.Outcome{End: batch.EndFailed, ExitCode: e.Code, Reason: "exit status " + strconv.Itoa(e.Code)}
	case e.State == "COMPLETED":
		return batch.Outcome{End: batch.EndDone}
	}
	return batch.Outcome{End: batch.EndFailed, Reason: cmp.Or(e.Reason, "failed") + " (Slurm: " + e.State + ")"}
}

// phaseOf is where a job is by its line in the queue.
func phaseOf(r *Row, begun bool) batch.Phase {
	switch r.State {
	case "PENDING", "REQUEUED", "REQUEUE_FED":
		if r.Reason == "JobHeldUser" || r.Reason == "JobHeldAdmin" {
			return batch.PhaseHeld
		}
		return batch.PhaseQueued
	case "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return batch.PhaseHeld
	case "CONFIGURING", "POWER_UP_NODE":
		return batch.PhaseStarting
	case "SUSPENDED", "STOPPED":
		if begun {
			return batch.PhasePaused
		}
	}
	if begun {
		return batch.PhaseRunning
	}
	return batch.PhaseStarting
}
