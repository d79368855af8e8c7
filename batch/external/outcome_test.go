package external

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestOutcomesCombineTheRecordOfTheClusterAndOfTheAttempt(t *testing.T) {
	began := Progress{Claimed: true, Began: time.Unix(1, 0)}
	wrote := func(out batch.Outcome) Progress {
		t := began
		t.Ended, t.Outcome = time.Unix(2, 0), out
		return t
	}
	three := batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"}
	done := batch.Outcome{End: batch.EndDone}
	for name, c := range map[string]struct {
		e         Record
		t         Progress
		alone     bool // no attempt files
		cancelled bool
		twice     bool // the record is about a second start
		verdict   verdict
		end       batch.End
		why       string
	}{
		"completed": {
			e: Record{Cause: Completed, State: "COMPLETED"}, t: wrote(done), verdict: decided, end: batch.EndDone,
		},
		"failed": {
			e: Record{Cause: Failed, State: "FAILED", Code: 3}, t: wrote(three), verdict: decided, end: batch.EndFailed,
			why: "exit status 3",
		},
		"end not recorded yet": {
			e: Record{Cause: Failed, State: "FAILED", Code: 3}, t: began, verdict: undecided, end: batch.EndFailed,
		},
		"not launched": {
			e: Record{Cause: Failed, State: "FAILED", Reason: "JobLaunchFailure"}, verdict: neverBegan,
			end: batch.EndNeverRan, why: "JobLaunchFailure",
		},
		"claimed by the server": {
			e: Record{Cause: Completed, State: "COMPLETED"}, t: Progress{Barred: true}, verdict: neverBegan,
			end: batch.EndNeverRan,
		},
		"time limit": {
			e: Record{Cause: TimedOut, State: "TIMEOUT"}, t: began, verdict: decided, end: batch.EndKilled,
			why: "walltime of 2m0s (Deaf: TIMEOUT)",
		},
		"done at its walltime": {
			e: Record{Cause: TimedOut, State: "TIMEOUT"}, t: wrote(done), verdict: decided, end: batch.EndDone,
		},
		"killed at its walltime": {
			e: Record{Cause: TimedOut, State: "TIMEOUT"},
			t: wrote(batch.Outcome{End: batch.EndFailed, Signal: "SIGTERM"}), verdict: decided, end: batch.EndKilled,
		},
		"cancelled": {
			e: Record{Cause: Cancelled, State: "CANCELLED"}, t: began, cancelled: true, verdict: decided,
			end: batch.EndCancelled, why: "cancelled",
		},
		"cancelled too late": {
			e: Record{Cause: Cancelled, State: "CANCELLED"}, t: wrote(done), cancelled: true, verdict: decided,
			end: batch.EndDone,
		},
		"cancelled by another user": {
			e: Record{Cause: Cancelled, State: "CANCELLED"}, verdict: decided, end: batch.EndCancelled,
			why: "another user",
		},
		"cancelled before the launch": {
			e: Record{Cause: Cancelled, State: "CANCELLED", Nodes: []string{"n1"}}, verdict: neverBegan,
			end: batch.EndNeverRan, why: "not launched",
		},
		"cancelled while it ran": {
			e: Record{Cause: Cancelled, State: "CANCELLED", Nodes: []string{"n1"}}, t: began, verdict: decided,
			end: batch.EndCancelled, why: "another user",
		},
		"node failed": {
			e: Record{Cause: NodeFailed, State: "NODE_FAIL"}, t: began, verdict: decided, end: batch.EndLost,
			why: "node failed (Deaf: NODE_FAIL)",
		},
		"drover missing on the node": {
			e: Record{
				Cause: Failed, State: "FAILED", Nodes: []string{"n1"}, Reason: "NonZeroExitCode", Code: 127,
			}, verdict: neverBegan, end: batch.EndNeverRan,
			why: "it was not launched: exit status 127 of its script: drover is not on the node, or not at the " +
				"configured path (Deaf: FAILED)",
		},
		"node failed before it began": {
			e: Record{Cause: NodeFailed, State: "NODE_FAIL", Nodes: []string{"n1"}}, verdict: neverBegan,
			end: batch.EndNeverRan,
		},
		"out of memory": {
			e: Record{Cause: OutOfMemory, State: "OUT_OF_MEMORY"}, t: began, verdict: decided, end: batch.EndFailed,
			why: "out of memory",
		},
		"preempted": {
			e: Record{Cause: Preempted, State: "PREEMPTED"}, t: began, verdict: decided, end: batch.EndLost,
			why: "preempted",
		},
		"preempted before it began": {
			e: Record{Cause: Preempted, State: "PREEMPTED"}, verdict: neverBegan, end: batch.EndNeverRan,
		},
		"deadline": {
			e: Record{Cause: Deadline, State: "DEADLINE"}, verdict: decided, end: batch.EndFailed, why: "deadline",
		},
		"second start found the claim": {e: Record{
			Cause: Failed, State: "FAILED", Code: 99, Nodes: []string{"n1"},
		}, t: began, twice: true, verdict: undecided, end: batch.EndLost, why: "lost sight"},
		"second start cancelled": {
			e: Record{Cause: Cancelled, State: "CANCELLED"}, t: began, twice: true, verdict: undecided,
			end: batch.EndLost,
		},
		"both starts cancelled": {
			e: Record{Cause: Cancelled, State: "CANCELLED"}, t: began, twice: true, cancelled: true, verdict: decided,
			end: batch.EndCancelled,
		},
		"first start recorded its end": {e: Record{
			Cause: Failed, State: "FAILED", Code: 99, Nodes: []string{"n1"},
		}, t: wrote(three), twice: true, verdict: decided, end: batch.EndFailed, why: "exit status 3"},
		"first start killed": {
			e: Record{
				Cause: Failed, State: "FAILED", Code: 99, Nodes: []string{"n1"},
			}, t: wrote(batch.Outcome{End: batch.EndFailed, Signal: "SIGKILL"}), twice: true, verdict: decided,
			end: batch.EndLost,
		},
		"no files: completed": {
			e: Record{Cause: Completed, State: "COMPLETED", Nodes: []string{"n1"}}, alone: true, verdict: decided,
			end: batch.EndDone,
		},
		"no files: exit code": {e: Record{
			Cause: Failed, State: "FAILED", Code: 7, Nodes: []string{"n1"},
		}, alone: true, verdict: decided, end: batch.EndFailed, why: "exit status 7"},
		"no files: signal": {e: Record{
			Cause: Failed, State: "FAILED", Signal: "SIGKILL", Nodes: []string{"n1"},
		}, alone: true, verdict: decided, end: batch.EndFailed, why: "signal SIGKILL"},
		"no files: never started": {
			e: Record{Cause: Failed, State: "FAILED"}, alone: true, verdict: neverBegan, end: batch.EndNeverRan,
		},
		"no files: failed for other reasons": {e: Record{
			Cause: Failed, State: "FAILED", Reason: "Prolog", Nodes: []string{"n1"},
		}, alone: true, verdict: decided, end: batch.EndFailed, why: "Prolog"},
	} {
		e := evidence{
			record: &c.e, progress: c.t, withFiles: !c.alone, title: "Deaf", limit: deaf{}.Limit(61 * batch.Second),
			cancelled: c.cancelled, twice: c.twice,
		}
		v, out := e.judge()
		if v != c.verdict || out.End != c.end || !strings.Contains(out.Reason, c.why) {
			t.Errorf("%s: %v %+v, want %v %v %q", name, v, out, c.verdict, c.end, c.why)
		}
	}
}
