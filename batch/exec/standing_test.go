package exec

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

func forecasts() Forecaster { return &forecast.Forecaster{} }

func TestStandingIsWhereAJobWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, open := range map[string]func() *System{
			"cbf": func() *System { return underCBF(t, newFakes()) },
			"easy": func() *System {
				p, err := easy.New(machine, nil)
				if err != nil {
					t.Fatal(err)
				}
				return open(t, Config{Policy: p, Forecaster: forecasts, Launcher: newFakes()})
			},
		} {
			s := open()
			do(t, s, submission("runs", 4, self("exit")), submission("first", 4, self("exit")), submission("second", 3, self("exit")))
			do(t, s, placement("second", false, hours(3, 2)))
			do(t, s, reservation("in", 4), submission("held", 4, self("exit")))
			do(t, s, order(batch.CmdHold, "held"))
			for job, want := range map[string]struct{ start, end time.Duration }{
				"first": {time.Hour, 2 * time.Hour}, "second": {2 * time.Hour, 4 * time.Hour},
				"runs": {}, "in": {}, "held": {},
			} {
				now := s.Now()
				start, end, ok, err := s.Standing(context.Background(), key(job))
				if err != nil || ok != (want.start > 0) || !ok && (start != batch.Never || end != batch.Never) {
					t.Errorf("%s: %s: %v %v %v %v", name, job, start, end, ok, err)
				}
				after := func(x batch.Time) time.Duration { return x.Sub(now).Std().Round(time.Second) }
				if ok && (after(start) != want.start || after(end) != want.end) {
					t.Errorf("%s: %s: from %v until %v, want %v", name, job, after(start), after(end), want)
				}
			}
			_, _, ok, err := s.Standing(context.Background(), key("nobody"))
			if ok {
				t.Error("nobody stands somewhere")
			}
			wantReason(t, err, ReasonUnknownJob)
		}
	})
}

func TestNobodyStandsInAClosedSystem(t *testing.T) {
	s := open(t, Config{Launcher: newFakes(), Grace: 1})
	do(t, s, submission("runs", 4, self("exit")), submission("a", 4, self("exit")))
	if _, _, ok, err := s.Standing(context.Background(), key("a")); ok || err != nil {
		t.Errorf("a policy that does not plan, without a forecaster: %v, %v", ok, err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, _, ok, err := s.Standing(context.Background(), key("a")); ok || !errors.Is(err, ErrClosed) {
		t.Errorf("%v, %v", ok, err)
	}
}
