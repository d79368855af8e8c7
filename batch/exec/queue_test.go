package exec

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func snapshot(t testing.TB, s *System) batch.Snapshot {
	t.Helper()
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// phases holds the names of phases in these tests. They do not distinguish launching from
// running jobs.
var phases = map[batch.Phase]string{
	batch.PhaseReserved: "reserved", batch.PhaseQueued: "queued", batch.PhaseHeld: "held",
	batch.PhaseStarting: "running", batch.PhaseRunning: "running", batch.PhasePaused: "paused",
	batch.PhaseEnded: "ended",
}

// names formats jobs with their phases.
func names(found []batch.Found) string {
	var out []string
	for _, f := range found {
		out = append(out, string(f.Key.Job)+":"+phases[f.Phase])
	}
	return strings.Join(out, " ")
}

func TestRepeatedSubmissionRunsOnce(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p})
	cmd := submission("a", 1, self("exit"))
	do(t, s, cmd, cmd)
	do(t, s, cmd)
	(<-l.launched).end <- Exit{}
	await(t, s, "a", batch.PhaseEnded)
	do(t, s, cmd)
	other := cmd
	other.Key.Attempt++
	do(t, s, other)
	(<-l.launched).end <- Exit{}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, want := p.received(), "submit a, finish a, submit a"; !strings.HasPrefix(got, want) ||
		strings.Count(got, "submit") != 2 {
		t.Errorf("policy received %q, want %q", got, want)
	}
}

func TestCancelOfAWaitingJobNeverStartsIt(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p})
	do(t, s, submission("wide", 4, self("exit")), submission("a", 4, self("exit")))
	do(t, s, order(batch.CmdCancel, "a"), order(batch.CmdCancel, "a"),
		submission("b", 4, self("exit")), order(batch.CmdCancel, "b"))
	for _, name := range []string{"a", "b"} {
		f := find(t, s, name)
		if f.Phase != batch.PhaseEnded || f.Outcome.End != batch.EndCancelled || !f.Started.IsZero() {
			t.Errorf("%+v, want cancelled and never started", f)
		}
	}
	(<-l.launched).end <- Exit{}
	await(t, s, "wide", batch.PhaseEnded)
	if snap := snapshot(t, s); snap.Free != 4 || len(snap.Running)+len(snap.Waiting) != 0 {
		t.Errorf("left over: %+v", snap)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("submit wide, submit a, cancel a, finish wide", p.received()); diff != "" {
		t.Error(diff)
	}
}

func TestCancelOfARunningJobEndsItsGroup(t *testing.T) {
	l := newUntilReady(t)
	s := open(t, Config{Launcher: l, Grace: batch.Millisecond})
	cmd := submission("a", 1, self("stubborn"))
	shelf.of(cmd).Env[ready] = l.fifo
	do(t, s, cmd)
	pids := <-l.pids
	do(t, s, order(batch.CmdCancel, "a"), order(batch.CmdCancel, "a"))
	f := await(t, s, "a", batch.PhaseEnded)
	if diff := cmp.Diff(batch.Outcome{End: batch.EndCancelled, Signal: "SIGKILL", Reason: "cancelled"},
		f.Outcome); diff != "" {
		t.Error(diff)
	}
	if alive(pids[0]) || alive(pids[1]) {
		t.Error("processes outlived the cancellation")
	}
	do(t, s, order(batch.CmdCancel, "a"))
}

func TestHeldJobWaitsUntilItIsReleased(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p})
	do(t, s, submission("a", 4, self("exit")), order(batch.CmdHold, "a"), submission("b", 4, self("exit")))
	do(t, s, submission("c", 1, self("exit")))
	do(t, s, order(batch.CmdHold, "c"), order(batch.CmdHold, "c"))
	snap := snapshot(t, s)
	if got := names(snap.Running) + " / " + names(snap.Waiting); got != "b:running / a:held c:held" {
		t.Errorf("running / waiting: %s", got)
	}
	(<-l.launched).end <- Exit{}
	await(t, s, "b", batch.PhaseEnded)
	do(t, s, order(batch.CmdRelease, "a"), order(batch.CmdRelease, "a"), order(batch.CmdRelease, "c"))
	snap = snapshot(t, s)
	if got := names(snap.Running) + " / " + names(snap.Waiting); got != "a:running / c:queued" {
		t.Errorf("running / waiting: %s", got)
	}
	wantReason(t, s.Do(context.Background(), []batch.Command{order(batch.CmdHold, "a")}), ReasonNotWaiting)
	(<-l.launched).end <- Exit{}
	(<-l.launched).end <- Exit{}
	await(t, s, "c", batch.PhaseEnded)
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := "submit a, hold a, submit b, submit c, hold c, finish b, place a back, place c back, finish a, finish c"
	if diff := cmp.Diff(want, p.received()); diff != "" {
		t.Error(diff)
	}
}

func wantReason(t testing.TB, err error, reason string) {
	t.Helper()
	var refused *batch.CommandError
	if !errors.As(err, &refused) || refused.Reason != reason {
		t.Errorf("error %v, want reason %s", err, reason)
	}
}

func TestBadCommandsAreRefusedWithAReason(t *testing.T) {
	platform := batch.Platform{Nodes: []batch.Node{{Processors: 4, Memory: 400}}}
	s := open(t, Config{Launcher: newFakes(), Platform: platform, Grace: 1})
	for _, c := range []struct {
		name   string
		reason string
		spoil  func(c *batch.Command)
	}{
		{"unknown hold", ReasonUnknownJob, func(c *batch.Command) { c.Kind = batch.CmdHold }},
		{"unknown release", ReasonUnknownJob, func(c *batch.Command) { c.Kind = batch.CmdRelease }},
		{"unknown cancel", ReasonUnknownJob, func(c *batch.Command) { c.Kind = batch.CmdCancel }},
		{"unknown confirm", ReasonUnknownJob, func(c *batch.Command) { c.Kind = batch.CmdConfirm }},
		{"unknown place", ReasonUnknownJob, func(c *batch.Command) { c.Kind = batch.CmdPlace }},
		{"reserved width 0", ReasonBadJob, func(c *batch.Command) { c.Kind, c.Job.Shape.Width = batch.CmdReserve, 0 }},
		{"kind", ReasonBadCommand, func(c *batch.Command) { c.Kind = 77 }},
		{"no job", ReasonBadJob, func(c *batch.Command) { c.Job = nil }},
		{"width 0", ReasonBadJob, func(c *batch.Command) { c.Job.Shape.Width = 0 }},
		{"walltime 0", ReasonBadJob, func(c *batch.Command) { c.Job.Shape.Walltime = 0 }},
		{"memory", ReasonBadJob, func(c *batch.Command) { c.Job.Memory = -1 }},
		{"cpu", ReasonBadJob, func(c *batch.Command) { c.Job.CPU = batch.One + 1 }},
		{"too wide", ReasonTooWide, func(c *batch.Command) { c.Job.Shape.Width = 5 }},
		{"charge", ReasonTooWide, func(c *batch.Command) { c.Job.Shape.Width = 2; c.Job.Memory = 201 }},
		{"window", ReasonBadJob, func(c *batch.Command) { c.Job.Window = &batch.Window{End: 1} }},
		{"into", ReasonBadJob, func(c *batch.Command) { c.Job.Into = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad, good := submission("bad", 1, self("exit", "0")), submission("good "+c.name, 4, self("exit"))
			c.spoil(&bad)
			wantReason(t, s.Do(context.Background(), []batch.Command{bad, good}), c.reason)
			find(t, s, "good "+c.name)
		})
	}
}

// counting is a launcher that checks the capacity independently.
type counting struct {
	processes
	mu    sync.Mutex
	used  map[string]int
	worst map[string]int
}

type counted struct {
	Launched
	l     *counting
	nodes map[string]int
}

func (l *counting) Launch(spec Spec) (Launched, error) {
	nodes := map[string]int{}
	for _, v := range spec.Env {
		if list, ok := strings.CutPrefix(v, "DROVER_NODES="); ok {
			for _, part := range strings.Split(list, ",") {
				name, n, _ := strings.Cut(part, ":")
				nodes[name], _ = strconv.Atoi(n)
			}
		}
	}
	l.mu.Lock()
	for name, n := range nodes {
		l.used[name] += n
		l.worst[name] = max(l.worst[name], l.used[name])
	}
	l.mu.Unlock()
	proc, err := l.processes.Launch(spec)
	return counted{proc, l, nodes}, err
}

func (c counted) Wait() Exit {
	exit := c.Launched.Wait()
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	for name, n := range c.nodes {
		c.l.used[name] -= n
	}
	return exit
}

func TestCapacityIsNeverExceeded(t *testing.T) {
	l := &counting{used: map[string]int{}, worst: map[string]int{}}
	s := open(t, Config{Launcher: l})
	var cmds []batch.Command
	for i := range 200 {
		cmds = append(cmds, submission(fmt.Sprint(i), int32(1+i%3), batch.Program{Args: []string{"true"}}))
	}
	do(t, s, cmds...)
	var at batch.Cursor
	for ended := 0; ended < len(cmds); {
		got, err := s.Watch(context.Background(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got.Jobs {
			if f.Phase == batch.PhaseEnded {
				ended++
				if f.Outcome.End != batch.EndDone {
					t.Errorf("%s: %+v", f.Key.Job, f.Outcome)
				}
			}
		}
		at = got.Next
	}
	if l.worst["n1"] != 2 || l.worst["n2"] > 2 || len(l.worst) > 2 {
		t.Errorf("most processors in use at a time: %v, the nodes have 2 each", l.worst)
	}
}
