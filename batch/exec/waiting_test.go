package exec

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
)

func reservation(name string, width int32) batch.Command {
	cmd := submission(name, width, batch.Program{Args: []string{"x"}})
	cmd.Kind = batch.CmdReserve
	return cmd
}

func placement(name string, restore bool, shape batch.Shape) batch.Command {
	cmd := order(batch.CmdPlace, name)
	cmd.Shape, cmd.Restore = shape, restore
	return cmd
}

func hours(width, n int32) batch.Shape {
	return batch.Shape{Width: width, Walltime: batch.Duration(n) * batch.Hour}
}

// underCBF returns a system on the machine with a planning policy.
func underCBF(t *testing.T, l Launcher) *System {
	p, err := cbf.New(machine, nil)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, Config{Policy: p, Launcher: l})
}

// wantState compares the running and waiting jobs with their phases.
func wantState(t *testing.T, s *System, want string) {
	t.Helper()
	snap := snapshot(t, s)
	if got := names(snap.Running) + " / " + names(snap.Waiting); got != want {
		t.Errorf("running / waiting: %s, want %s", got, want)
	}
}

func wantTold(t *testing.T, s *System, p interface{ received() string }, want string) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, p.received()); diff != "" {
		t.Error(diff)
	}
}

func refused(t *testing.T, s *System, cmd batch.Command, reason string) {
	t.Helper()
	wantReason(t, s.Do(context.Background(), []batch.Command{cmd}), reason)
}

func TestReservedJobStartsOnlyWhenItIsConfirmed(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p, Grace: 1})
	in := reservation("in", 4)
	do(t, s, in, in)
	do(t, s, in)
	wantState(t, s, " / in:reserved")
	if f := find(t, s, "in"); f.Phase != batch.PhaseReserved || !f.Started.IsZero() {
		t.Errorf("%+v, want reserved", f)
	}
	do(t, s, order(batch.CmdConfirm, "in"), order(batch.CmdConfirm, "in"))
	wantState(t, s, "in:running / ")
	do(t, s, in, order(batch.CmdConfirm, "in"))
	(<-l.launched).end <- Exit{}
	await(t, s, "in", batch.PhaseEnded)
	do(t, s, in, order(batch.CmdConfirm, "in"))
	wantTold(t, s, p, "reserve in, confirm in, finish in")
}

func TestPolicyThatStartsAReservedJobFaults(t *testing.T) {
	l := newFakes()
	s := open(t, Config{Launcher: l, Policy: newToy(4, line{0, batch.Decision{Kind: batch.Start, Job: 1}})})
	do(t, s, reservation("in", 4))
	if err := s.Err(); !errors.Is(err, ErrWrongState) || len(l.launched) != 0 {
		t.Errorf("error %v, %d launched", err, len(l.launched))
	}
	refused(t, s, order(batch.CmdConfirm, "in"), ReasonFaulted)
	do(t, s, order(batch.CmdCancel, "in"))
}

func TestReservedJobConfirmedInTheSameCallIsSubmitted(t *testing.T) {
	p := newToy(4)
	s := open(t, Config{Launcher: newFakes(), Policy: p, Grace: 1})
	do(t, s, reservation("in", 4), order(batch.CmdConfirm, "in"))
	wantState(t, s, "in:running / ")
	if got := p.received(); got != "submit in" {
		t.Errorf("policy received %q", got)
	}
}

func TestCancelOfAReservedJobDropsIt(t *testing.T) {
	p := newToy(4)
	s := open(t, Config{Launcher: newFakes(), Policy: p})
	do(t, s, reservation("a", 4))
	do(t, s, order(batch.CmdCancel, "a"), order(batch.CmdCancel, "a"))
	do(t, s, reservation("b", 4), order(batch.CmdCancel, "b"))
	for _, name := range []string{"a", "b"} {
		if f := find(t, s, name); f.Phase != batch.PhaseEnded || f.Outcome.End != batch.EndCancelled ||
			!f.Started.IsZero() {
			t.Errorf("%+v, want cancelled and never started", f)
		}
		refused(t, s, order(batch.CmdConfirm, name), ReasonNotWaiting)
		do(t, s, reservation(name, 4))
	}
	wantState(t, s, " / ")
	wantTold(t, s, p, "reserve a, cancel a")
}

func TestCanceledJobIsStillConfirmed(t *testing.T) {
	p := newToy(4)
	s := open(t, Config{Launcher: newFakes(), Policy: p, Grace: 1})
	do(t, s, submission("wide", 4, self("exit")), reservation("in", 4))
	do(t, s, order(batch.CmdConfirm, "in"))
	do(t, s, order(batch.CmdCancel, "in"))
	do(t, s, order(batch.CmdConfirm, "in"))
}

func TestReservedJobRefusesOtherCommands(t *testing.T) {
	p := newToy(4)
	s := open(t, Config{Launcher: newFakes(), Policy: p})
	in := reservation("in", 4)
	do(t, s, in)
	late := in
	late.Kind = batch.CmdSubmit
	for _, cmd := range []batch.Command{late, placement("in", false, hours(1, 1))} {
		refused(t, s, cmd, ReasonNotWaiting)
	}
	do(t, s, order(batch.CmdRelease, "in"))
	wantState(t, s, " / in:reserved")
	wantTold(t, s, p, "reserve in")
}

func TestPlaceIsRefusedUnlessTheJobWaitsAndFits(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{
		Launcher: l, Policy: p, Grace: 1, Platform: batch.Platform{Nodes: []batch.Node{{Processors: 4, Memory: 400}}},
	})
	heavy := submission("heavy", 1, self("exit"))
	heavy.Job.Memory = 200
	do(t, s, submission("runs", 3, self("exit")), submission("ends", 1, self("exit")),
		submission("before", 4, self("exit")), heavy)
	for range 2 {
		if f := <-l.launched; slices.Contains(f.spec.Env, "DROVER_WIDTH=1") {
			f.end <- Exit{}
		}
	}
	await(t, s, "ends", batch.PhaseEnded)
	for _, name := range []string{"runs", "ends"} {
		refused(t, s, placement(name, false, hours(1, 1)), ReasonNotWaiting)
	}
	refused(t, s, order(batch.CmdHold, "ends"), ReasonNotWaiting)
	refused(t, s, placement("heavy", false, hours(0, 1)), ReasonBadJob)
	refused(t, s, placement("heavy", false, hours(1, 0)), ReasonBadJob)
	refused(t, s, placement("heavy", false, hours(5, 1)), ReasonTooWide)
	refused(t, s, placement("heavy", false, hours(3, 1)), ReasonTooWide) // 3 x 200 bytes are 6 processors
	if f := find(t, s, "heavy"); f.Shape != hours(1, 1) {
		t.Errorf("shape %v after refusals", f.Shape)
	}
	wantTold(t, s, p, "submit runs, submit ends, submit before, submit heavy, finish ends")
}

func TestPlacedJobsKeepTheirPosition(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p, Grace: 1})
	do(t, s, submission("wide", 4, self("exit")))
	do(t, s, submission("a", 4, self("exit")), submission("b", 4, self("exit")), submission("c", 4, self("exit")))
	last, back := placement("a", false, hours(3, 1)), placement("b", true, hours(4, 2))
	do(t, s, order(batch.CmdHold, "a"), order(batch.CmdHold, "b"), last, last, back, back)
	wantState(t, s, "wide:running / b:queued c:queued a:queued")
	do(t, s, submission("d", 4, self("exit")))
	do(t, s, last, back)
	wantState(t, s, "wide:running / b:queued c:queued a:queued d:queued")
	do(t, s, order(batch.CmdHold, "a"))
	do(t, s, last)
	wantState(t, s, "wide:running / b:queued c:queued d:queued a:queued")
	do(t, s, placement("b", false, hours(4, 2)))
	wantState(t, s, "wide:running / c:queued d:queued a:queued b:queued")
	if f := find(t, s, "a"); f.Shape != hours(3, 1) {
		t.Errorf("shape %v, want that with which it was placed", f.Shape)
	}
	wantTold(t, s, p, "submit wide, submit a, submit b, submit c, hold a, hold b, place a as 3x1h0m0s, place b as "+
		"4x2h0m0s back, "+
		"submit d, hold a, place a, place b")
}

func TestJobPlacedInTheSameCallIsSubmittedWithItsNewShape(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p, Grace: 1})
	cmd := submission("a", 4, self("exit"))
	do(t, s, submission("wide", 4, self("exit")), submission("held", 4, self("exit")), order(batch.CmdHold, "held"))
	do(t, s, cmd, submission("b", 4, self("exit")), order(batch.CmdHold, "a"),
		placement("a", false, hours(2, 1)), placement("held", false, hours(4, 1)))
	wantState(t, s, "wide:running / held:queued b:queued a:queued")
	if cmd.Job.Shape != hours(4, 1) {
		t.Errorf("the caller's job has become %v", cmd.Job.Shape)
	}
	wantTold(t, s, p, "submit wide, submit held, hold held, place held, submit b, submit a")
	if got := p.queue[2]; got.Name != "a" || got.Shape != hours(2, 1) {
		t.Errorf("policy has %s as %v, want a as it was placed", got.Name, got.Shape)
	}
}

func TestReleaseKeepsThePlacedShape(t *testing.T) {
	p := newToy(4)
	s := open(t, Config{Launcher: newFakes(), Policy: p, Grace: 1})
	do(t, s, submission("wide", 4, self("exit")), submission("a", 4, self("exit")))
	do(t, s, placement("a", true, hours(2, 3)))
	do(t, s, order(batch.CmdHold, "a"))
	do(t, s, order(batch.CmdRelease, "a"))
	if f := find(t, s, "a"); f.Shape != hours(2, 3) || f.Phase != batch.PhaseQueued {
		t.Errorf("%+v, want it to wait as it was placed", f)
	}
	wantTold(t, s, p, "submit wide, submit a, place a as 2x3h0m0s back, hold a, place a back")
}

func TestPlacedJobRunsWithItsNewShapeUntilItsNewWalltime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s := underCBF(t, l)
		do(t, s, submission("wide", 3, self("exit")), submission("a", 4, self("exit")))
		wide := <-l.launched
		wantState(t, s, "wide:running / a:queued")
		do(t, s, placement("a", false, batch.Shape{Width: 1, Walltime: batch.Minute}))
		wantState(t, s, "wide:running a:running / ")
		narrow := <-l.launched
		for _, want := range []string{"DROVER_WIDTH=1", "DROVER_PROCESSORS=1", "DROVER_WALLTIME=60"} {
			if !slices.Contains(narrow.spec.Env, want) {
				t.Errorf("no %s in %q", want, narrow.spec.Env)
			}
		}
		f := await(t, s, "a", batch.PhaseEnded)
		ran := f.Ended.Sub(f.Started).Round(time.Second)
		if f.Outcome.End != batch.EndKilled || ran != time.Minute+DefaultGrace.Std() || f.Shape.Width != 1 {
			t.Errorf("%+v ended after %v, want it killed at its new walltime", f, ran)
		}
		if snap := snapshot(t, s); snap.Free != 1 {
			t.Errorf("%d processors free, want the 1 it had", snap.Free)
		}
		wide.end <- Exit{}
		await(t, s, "wide", batch.PhaseEnded)
	})
}

// startOf returns the estimated wait of a job of the whole machine.
func startOf(t *testing.T, s *System) time.Duration {
	t.Helper()
	now := s.Now()
	ests, _, ok, err := s.Estimate(context.Background(),
		[]batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{hours(4, 1)}}})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return ests[0].Starts[0].Sub(now).Std().Round(time.Second)
}

func TestReservationIsInThePlanUntilItIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := underCBF(t, newFakes())
		do(t, s, submission("first", 4, self("exit")))
		for _, want := range []struct {
			cmd   batch.Command
			start time.Duration
		}{
			{reservation("in", 4), 2 * time.Hour},
			{reservation("in", 4), 2 * time.Hour},
			{order(batch.CmdConfirm, "in"), 2 * time.Hour},
			{reservation("out", 4), 3 * time.Hour},
			{order(batch.CmdCancel, "out"), 2 * time.Hour},
			{order(batch.CmdHold, "in"), time.Hour},
			{placement("in", true, hours(4, 2)), 3 * time.Hour},
		} {
			do(t, s, want.cmd)
			if got := startOf(t, s); got != want.start {
				t.Errorf("after command %d of %s a new job starts in %v, want %v", want.cmd.Kind, want.cmd.Key.Job, got,
					want.start)
			}
		}
	})
}

func TestDueReservationBlocksNoJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s := underCBF(t, l)
		cmds := []batch.Command{
			submission("first", 4, self("exit")), reservation("in", 4), submission("second", 4, self("exit")),
		}
		for i := range cmds {
			cmds[i].Job.Shape.Walltime = batch.Minute
		}
		do(t, s, cmds...)
		(<-l.launched).end <- Exit{}
		await(t, s, "second", batch.PhaseRunning)
		wantState(t, s, "second:running / in:reserved")
		do(t, s, order(batch.CmdConfirm, "in"))
		(<-l.launched).end <- Exit{}
		await(t, s, "in", batch.PhaseRunning)
		wantState(t, s, "in:running / ")
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestHeldReservationWaitsForItsConfirmationOutsideThePlan(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p, Grace: 1})
	do(t, s, submission("wide", 4, self("exit")), reservation("in", 4), submission("after", 4, self("exit")))
	for range 2 {
		do(t, s, order(batch.CmdHold, "in"), order(batch.CmdHold, "in"), order(batch.CmdRelease, "in"),
			reservation("in", 4))
		wantState(t, s, "wide:running / in:reserved after:queued")
	}
	refused(t, s, placement("in", true, hours(1, 1)), ReasonNotWaiting)
	do(t, s, order(batch.CmdConfirm, "in"), order(batch.CmdConfirm, "in"))
	do(t, s, order(batch.CmdConfirm, "in"))
	wantState(t, s, "wide:running / in:queued after:queued")
	(<-l.launched).end <- Exit{}
	await(t, s, "in", batch.PhaseRunning)
	wantTold(t, s, p, "submit wide, reserve in, submit after, hold in, place in back, finish wide")
}

func TestReservationHeldInTheSameCallIsHeld(t *testing.T) {
	p := newToy(4)
	s := open(t, Config{Launcher: newFakes(), Policy: p, Grace: 1})
	do(t, s, reservation("in", 4), order(batch.CmdHold, "in"))
	do(t, s, reservation("no", 4))
	do(t, s, order(batch.CmdHold, "no"))
	do(t, s, order(batch.CmdCancel, "no"), order(batch.CmdConfirm, "in"))
	do(t, s, reservation("at once", 4), order(batch.CmdHold, "at once"), order(batch.CmdConfirm, "at once"))
	wantState(t, s, "in:running / at once:queued")
	wantTold(t, s, p, "reserve in, hold in, reserve no, hold no, cancel no, place in back, submit at once")
}

func TestHeldReservationTakesNoCapacityInThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := underCBF(t, newFakes())
		do(t, s, submission("first", 4, self("exit")))
		for _, want := range []struct {
			cmd   batch.Command
			start time.Duration
		}{
			{reservation("in", 4), 2 * time.Hour},
			{order(batch.CmdHold, "in"), time.Hour},
			{order(batch.CmdConfirm, "in"), 2 * time.Hour},
		} {
			do(t, s, want.cmd)
			if got := startOf(t, s); got != want.start {
				t.Errorf("after command %d a new job starts in %v, want %v", want.cmd.Kind, got, want.start)
			}
		}
	})
}
