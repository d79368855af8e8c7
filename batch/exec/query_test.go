package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// oracle is a forecaster with a fixed answer.
type oracle struct {
	after batch.Duration
	kind  batch.Kind
}

func (o oracle) Estimate(now batch.Time, p batch.Policy, asks []batch.Ask, out []batch.Estimate) bool {
	for i := range asks {
		out[i].Kind = o.kind
		out[i].Grow(1)[0] = now.Add(o.after)
	}
	return p != nil
}

func TestEstimateComesFromThePolicyOrElseTheForecaster(t *testing.T) {
	for _, c := range []struct {
		name       string
		kind       batch.Kind
		forecaster Forecaster
		ok         bool
		want       batch.Kind
		after      batch.Duration
		promises   bool
	}{
		{"promising policy", batch.Promised, oracle{}, true, batch.Promised, 0, true},
		{"planning policy", batch.Planned, nil, true, batch.Planned, 0, false},
		{"forecaster", 0, oracle{batch.Hour, batch.Forecast}, true, batch.Forecast, batch.Hour, false},
		{"promising forecaster", 0, oracle{batch.Hour, batch.Promised}, true, batch.Promised, batch.Hour, true},
		{"neither", 0, nil, false, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newToy(4)
			p.kind = c.kind
			cfg := Config{Policy: p}
			if c.forecaster != nil {
				cfg.Forecaster = func() Forecaster { return c.forecaster }
			}
			s := open(t, cfg)
			shapes := []batch.Shape{{Width: 1, Walltime: batch.Minute}}
			before := s.Now()
			ests, age, ok, err := s.Estimate(context.Background(), []batch.Ask{{Job: &batch.Job{}, Shapes: shapes}})
			if err != nil || ok != c.ok || s.Caps().Promises != c.promises {
				t.Fatalf("ok %v, error %v, caps %+v", ok, err, s.Caps())
			}
			if age < 0 || age > s.Now().Sub(before) {
				t.Errorf("age %v", age)
			}
			if !ok {
				return
			}
			start := ests[0].Starts[0]
			if ests[0].Kind != c.want || start < before.Add(c.after) || start > s.Now().Add(c.after) {
				t.Errorf("%v at %d, want %v %v from now (%d)", ests[0].Kind, start, c.want, c.after, before)
			}
		})
	}
}

func TestImpossibleQueriesAreRefused(t *testing.T) {
	s := open(t, Config{})
	job := &batch.Job{}
	one := batch.Shape{Width: 1, Walltime: 1}
	for want, ask := range map[string]batch.Ask{
		"job: missing":          {Shapes: []batch.Shape{one}},
		"shapes: none":          {Job: job},
		"shapes[0]: 0x":         {Job: job, Shapes: []batch.Shape{{Walltime: 1}}},
		"more than 0s":          {Job: job, Shapes: []batch.Shape{{Width: 1}}},
		"shapes[1]: width 1 af": {Job: job, Shapes: []batch.Shape{{Width: 2, Walltime: 1}, one}},
	} {
		good := batch.Ask{Job: job, Shapes: []batch.Shape{one}}
		_, _, _, err := s.Estimate(context.Background(), []batch.Ask{good, ask})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "asks[1]") {
			t.Errorf("%v, want it to name %q", err, want)
		}
	}
}

func TestValidateReportsAllErrors(t *testing.T) {
	_, err := New(Config{Grace: -1, Retain: -1})
	for _, want := range []string{"policy: missing", "platform: processors: 0", "grace: -1", "retain: -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to name %q", err, want)
		}
	}
}

func forecasts() Forecaster { return &forecast.Forecaster{} }

func TestStandingReturnsThePositionOfAWaitingJob(t *testing.T) {
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
			do(t, s, submission("runs", 4, self("exit")), submission("first", 4, self("exit")),
				submission("second", 3, self("exit")))
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
				t.Error("a closed system has a standing")
			}
			wantReason(t, err, ReasonUnknownJob)
		}
	})
}

func TestAClosedSystemHasNoStanding(t *testing.T) {
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
