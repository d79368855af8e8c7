package exec

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestHeldReservationWaitsForItsConfirmationOutsideThePlan(t *testing.T) {
	l := newFakes()
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p, Grace: 1})
	do(t, s, submission("wide", 4, self("exit")), reservation("in", 4), submission("after", 4, self("exit")))
	for range 2 {
		do(t, s, order(batch.CmdHold, "in"), order(batch.CmdHold, "in"), order(batch.CmdRelease, "in"), reservation("in", 4))
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

func TestReservationHeldInItsOwnCallIsSetAside(t *testing.T) {
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
