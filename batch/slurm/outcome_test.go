package slurm

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestEndsAreJudgedByBothAccounts(t *testing.T) {
	began := Testimony{Claimed: true, Began: time.Unix(1, 0)}
	wrote := func(out batch.Outcome) Testimony {
		t := began
		t.Ended, t.Outcome = time.Unix(2, 0), out
		return t
	}
	three := batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"}
	done := batch.Outcome{End: batch.EndDone}
	shape := batch.Shape{Width: 1, Walltime: 61 * batch.Second}
	for name, c := range map[string]struct {
		e         Ended
		t         Testimony
		alone     bool // no witness
		cancelled bool
		twice     bool // Slurm's word is about a second start
		verdict   verdict
		end       batch.End
		why       string
	}{
		"completed":                       {e: Ended{State: "COMPLETED"}, t: wrote(done), verdict: ended, end: batch.EndDone},
		"failed":                          {e: Ended{State: "FAILED", Code: 3}, t: wrote(three), verdict: ended, end: batch.EndFailed, why: "exit status 3"},
		"its end is not there yet":        {e: Ended{State: "FAILED", Code: 3}, t: began, verdict: notYet, end: batch.EndFailed},
		"not launched":                    {e: Ended{State: "FAILED", Reason: "JobLaunchFailure"}, verdict: notBegun, end: batch.EndNeverRan, why: "JobLaunchFailure"},
		"its claim was taken":             {e: Ended{State: "COMPLETED"}, t: Testimony{Barred: true}, verdict: notBegun, end: batch.EndNeverRan},
		"at its walltime":                 {e: Ended{State: "TIMEOUT"}, t: began, verdict: ended, end: batch.EndKilled, why: "walltime of 2m0s (Slurm: TIMEOUT)"},
		"done in time, but only just":     {e: Ended{State: "TIMEOUT"}, t: wrote(done), verdict: ended, end: batch.EndDone},
		"killed for its walltime":         {e: Ended{State: "TIMEOUT"}, t: wrote(batch.Outcome{End: batch.EndFailed, Signal: "SIGTERM"}), verdict: ended, end: batch.EndKilled},
		"cancelled":                       {e: Ended{State: "CANCELLED"}, t: began, cancelled: true, verdict: ended, end: batch.EndCancelled, why: "cancelled"},
		"cancelled too late":              {e: Ended{State: "CANCELLED"}, t: wrote(done), cancelled: true, verdict: ended, end: batch.EndDone},
		"cancelled by others":             {e: Ended{State: "CANCELLED"}, verdict: ended, end: batch.EndCancelled, why: "somebody else"},
		"cancelled instead of launched":   {e: Ended{State: "CANCELLED", NodeList: "n1"}, verdict: notBegun, end: batch.EndNeverRan, why: "not launched"},
		"cancelled while it ran":          {e: Ended{State: "CANCELLED", NodeList: "n1"}, t: began, verdict: ended, end: batch.EndCancelled, why: "somebody else"},
		"node failed":                     {e: Ended{State: "NODE_FAIL"}, t: began, verdict: ended, end: batch.EndLost, why: "node failed (Slurm: NODE_FAIL)"},
		"no drover on the node":           {e: Ended{State: "FAILED", NodeList: "n1", Reason: "NonZeroExitCode", Code: 127}, verdict: notBegun, end: batch.EndNeverRan, why: "it was not launched: exit status 127 of its script: drover is not on the node, or not where it should be (Slurm: FAILED)"},
		"node failed before it began":     {e: Ended{State: "NODE_FAIL", NodeList: "n1"}, verdict: notBegun, end: batch.EndNeverRan},
		"out of memory":                   {e: Ended{State: "OUT_OF_MEMORY"}, t: began, verdict: ended, end: batch.EndFailed, why: "out of memory"},
		"preempted":                       {e: Ended{State: "PREEMPTED"}, t: began, verdict: ended, end: batch.EndLost, why: "preempted"},
		"preempted before it began":       {e: Ended{State: "PREEMPTED"}, verdict: notBegun, end: batch.EndNeverRan},
		"a deadline":                      {e: Ended{State: "DEADLINE"}, verdict: ended, end: batch.EndFailed, why: "deadline"},
		"the second start found a claim":  {e: Ended{State: "FAILED", Code: 99, NodeList: "n1"}, t: began, twice: true, verdict: notYet, end: batch.EndLost, why: "lost sight"},
		"only the second was cancelled":   {e: Ended{State: "CANCELLED"}, t: began, twice: true, verdict: notYet, end: batch.EndLost},
		"both were cancelled":             {e: Ended{State: "CANCELLED"}, t: began, twice: true, cancelled: true, verdict: ended, end: batch.EndCancelled},
		"the first start has ended":       {e: Ended{State: "FAILED", Code: 99, NodeList: "n1"}, t: wrote(three), twice: true, verdict: ended, end: batch.EndFailed, why: "exit status 3"},
		"the first start was killed":      {e: Ended{State: "FAILED", Code: 99, NodeList: "n1"}, t: wrote(batch.Outcome{End: batch.EndFailed, Signal: "SIGKILL"}), twice: true, verdict: ended, end: batch.EndLost},
		"alone: completed":                {e: Ended{State: "COMPLETED", NodeList: "n1"}, alone: true, verdict: ended, end: batch.EndDone},
		"alone: exit code":                {e: Ended{State: "FAILED", Code: 7, NodeList: "n1"}, alone: true, verdict: ended, end: batch.EndFailed, why: "exit status 7"},
		"alone: signal":                   {e: Ended{State: "FAILED", Signal: "SIGKILL", NodeList: "n1"}, alone: true, verdict: ended, end: batch.EndFailed, why: "signal SIGKILL"},
		"alone: never started":            {e: Ended{State: "FAILED"}, alone: true, verdict: notBegun, end: batch.EndNeverRan},
		"alone: failed for other reasons": {e: Ended{State: "FAILED", Reason: "Prolog", NodeList: "n1"}, alone: true, verdict: ended, end: batch.EndFailed, why: "Prolog"},
	} {
		v, out := judge(&c.e, c.t, !c.alone, shape, c.cancelled, c.twice)
		if v != c.verdict || out.End != c.end || !strings.Contains(out.Reason, c.why) {
			t.Errorf("%s: %v %+v, want %v %v %q", name, v, out, c.verdict, c.end, c.why)
		}
	}
}

func TestListsOfNodesAreExpanded(t *testing.T) {
	for list, want := range map[string]string{
		"":                   "",
		"n1":                 "n1",
		"c1n[1-2]":           "c1n1 c1n2",
		"a[08-10,12],b,c[1]": "a08 a09 a10 a12 b c1",
		"r[1-2]n[1-2]":       "r1n1 r1n2 r2n1 r2n2",
		"a[1-99999]":         "a[1-99999]",
		"a[x]":               "a[x]",
		"a[1":                "a[1",
	} {
		if got := expand(list); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q is %q", list, got)
		}
	}
}
