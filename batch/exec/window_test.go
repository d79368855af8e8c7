package exec

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// unit is the time unit of these tests, much shorter than the timeout of await.
const unit = 6 * batch.Second

// aside returns an advance reservation with start and end in units from now.
func aside(s *System, name string, width int32, from, until int) batch.Command {
	now := s.Now()
	at := func(units int) batch.Time { return now.Add(batch.Duration(units) * unit) }
	return batch.Command{Kind: batch.CmdReserve, Key: windowKey(name), Job: &batch.Job{
		Name: name, Shape: batch.Shape{Width: width, Walltime: at(until).Sub(at(from))},
		Window: &batch.Window{Start: at(from), End: at(until)},
	}}
}

func windowKey(name string) batch.Key { return batch.Key{Job: batch.JobID(name)} }

// into returns a job of some units in a window, or in none.
func into(window, name string, width int32, units int) batch.Command {
	cmd := submission(name, width, self("exit"))
	cmd.Job.Shape.Walltime = batch.Duration(units) * unit
	if window != "" {
		cmd.Into = windowKey(window)
	}
	return cmd
}

func cancelWindow(name string) batch.Command {
	return batch.Command{Kind: batch.CmdCancel, Key: windowKey(name)}
}

func reserving(t *testing.T, l fakes) (*System, *calendar) {
	c := newCalendar(4)
	s := open(t, Config{Policy: c, Launcher: l, Grace: 1})
	if !s.Caps().Reservations {
		t.Fatal("it sets no windows aside")
	}
	return s, c
}

func TestAWindowOpensAndClosesOnTimeAndJobsRunInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s, c := reserving(t, l)
		begun := time.Now()
		w := aside(s, "w", 3, 10, 20)
		do(t, s, w)
		do(t, s, w, into("", "beside", 4, 9), into("w", "in", 3, 5), into("w", "next", 3, 5), into("w", "never", 3, 6))
		(<-l.launched).end <- Exit{} // the job outside the window
		in := await(t, s, "in", batch.PhaseRunning)
		if at := in.Started.Sub(begun).Round(time.Millisecond); at != (10 * unit).Std() {
			t.Errorf("it started after %v", at)
		}
		(<-l.launched).end <- Exit{}
		next := await(t, s, "next", batch.PhaseEnded) // it runs until the end of the window
		if after := next.Ended.Sub(begun).Round(time.Millisecond); next.Outcome.End != batch.EndKilled ||
			after.Round(time.Second) != (15*unit).Std() {
			t.Errorf("%+v after %v", next.Outcome, after)
		}
		never := await(t, s, "never", batch.PhaseEnded)
		if after := never.Ended.Sub(begun).Round(time.Millisecond); never.Outcome.End != batch.EndStartFailed ||
			after != (20*unit).Std() {
			t.Errorf("%+v after %v", never.Outcome, after)
		}
		refused(t, s, into("w", "late", 1, 1), ReasonNoWindow)
		wantTold(t, s, c, "reserve w, submit beside, submit in, submit next, submit never, finish beside, "+
			"window-open w, "+
			"finish in, finish next, cancel never, window-close w")
	})
}

func TestAWindowThatDoesNotFitIntoThePlanIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := reserving(t, newFakes())
		do(t, s, into("", "a", 3, 10))
		refused(t, s, aside(s, "w", 2, 5, 15), ReasonNoRoom)
		do(t, s, aside(s, "w", 1, 5, 15))
		// Of two conflicting windows in one call, the first is accepted.
		err := s.Do(context.Background(), []batch.Command{aside(s, "x", 3, 20, 30), aside(s, "y", 2, 25, 35)})
		wantReason(t, err, ReasonNoRoom)
		refused(t, s, aside(s, "z", 5, 50, 60), ReasonTooWide)
		refused(t, s, aside(s, "z", 1, -5, 0), ReasonBadJob)
		refused(t, s, into("y", "in", 1, 1), ReasonNoWindow)
		refused(t, s, into("x", "in", 4, 1), ReasonTooWide)
		refused(t, s, batch.Command{Kind: batch.CmdHold, Key: windowKey("w")}, ReasonBadCommand)
	})
	s := open(t, Config{Launcher: newFakes()})
	if s.Caps().Reservations {
		t.Error("a policy that does not look at windows sets them aside")
	}
	refused(t, s, aside(s, "w", 1, 5, 15), ReasonUnsupported)
}

func TestACanceledWindowEndsItsJobsAndFreesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s, c := reserving(t, l)
		do(t, s, aside(s, "w", 4, 0, 60), aside(s, "v", 4, 90, 120))
		do(t, s, into("w", "runs", 2, 30), into("w", "waits", 4, 20), into("", "after", 4, 60))
		await(t, s, "runs", batch.PhaseRunning)
		do(t, s, cancelWindow("v"), cancelWindow("w"))
		refused(t, s, cancelWindow("v"), ReasonUnknownJob)
		refused(t, s, into("w", "late", 1, 1), ReasonNoWindow)
		for _, name := range []string{"runs", "waits"} {
			if f := await(t, s, name, batch.PhaseEnded); f.Outcome.End != batch.EndCancelled {
				t.Errorf("%s: %+v", name, f.Outcome)
			}
		}
		wantTold(t, s, c, "reserve w, reserve v, window-open w, submit runs, submit waits, submit after, cancel v, "+
			"cancel waits, finish runs, cancel w")
	})
}

func TestAgreedJobsAreAcceptedOnlyIfThePlanKeepsTheirDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s, c := reserving(t, l)
		agreed := func(name string, within int, promise bool) batch.Command {
			cmd := into("", name, 4, 10)
			cmd.Job.Agreed, cmd.Job.Deadline, cmd.Promise = true, s.Now().Add(batch.Duration(within)*unit+batch.Second),
				promise
			return cmd
		}
		// Agreed jobs of one call are handled in order, before other jobs.
		do(t, s, into("", "any", 4, 10), agreed("a", 10, true), agreed("b", 20, true))
		refused(t, s, agreed("c", 30, true), ReasonNoRoom)
		d := agreed("d", 30, false) // of an earlier system
		do(t, s, d)
		if d.Job.Agreed {
			t.Error("the policy receives an agreement that it cannot keep")
		}
		wantTold(t, s, c, "submit a, submit b, submit any, submit d")
	})
}

func TestWindowsOfAnEarlierSystemAreRestoredWithTheirJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalendar(4)
		at := func(units int) batch.Time {
			return batch.Time(time.Now().Add(time.Duration(units) * unit.Std()).UnixMicro())
		}
		window := func(name string, width int32, from, until int) Window {
			return Window{windowKey(name), &batch.Job{
				Name: name, Shape: batch.Shape{Width: width, Walltime: unit}, Window: &batch.Window{
					Start: at(from), End: at(until),
				},
			}}
		}
		a, proc := found("a", 2, 30*unit, time.Now().Add(-(5 * unit).Std()))
		a.Into = windowKey("open")
		b, other := found("b", 1, 30*unit, time.Now().Add(-(5 * unit).Std()))
		b.Allocation, b.Into = []batch.NodeAllocation{{Node: 1, Processors: 1, Share: batch.One}}, windowKey("over")
		s := open(t, Config{
			Policy: c, Launcher: newFakes(), Grace: 1, Adopt: []Adopted{a, b},
			Windows: []Window{window("open", 2, -10, 10), window("next", 4, 30, 40)},
		})
		do(t, s, into("next", "in", 4, 5))
		f := await(t, s, "a", batch.PhaseEnded)
		if ran := time.Since(f.Started).Round(time.Second); f.Outcome.End != batch.EndKilled || ran != (15*unit).Std() {
			t.Errorf("%+v after %v", f.Outcome, ran)
		}
		other.end <- Exit{}
		await(t, s, "in", batch.PhaseRunning)
		_ = proc
		wantTold(t, s, c, "reserve open, reserve next, window-open open, adopt a, adopt b, submit in, window-close "+
			"open, finish a, finish b, window-open next")
	})
}

// With every policy: a window is reserved, a job runs in it, an agreement gets a promise, and
// an impossible agreement is refused. A policy that cannot reserve refuses both.
func TestEveryPolicyReservesWindowsAndKeepsAgreements(t *testing.T) {
	for _, name := range policy.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := policy.New(name, machine, nil)
				if err != nil {
					t.Fatal(err)
				}
				l := newFakes()
				s := open(t, Config{Policy: p, Launcher: l, Grace: 1, Forecaster: func() Forecaster {
					return &forecast.Forecaster{}
				}})
				// The first gives a whole machine to one job, the second only parts.
				if !policy.Of(name).Reserves {
					refused(t, s, aside(s, "w", 3, 10, 20), ReasonUnsupported)
					return
				}
				if !s.Caps().Reservations {
					t.Fatal("it sets no windows aside")
				}
				do(t, s, aside(s, "w", 3, 10, 20))
				refused(t, s, aside(s, "x", 2, 15, 25), ReasonNoRoom)
				do(t, s, into("", "long", 2, 12), into("w", "in", 3, 5))
				ests, _, ok, err := s.Estimate(context.Background(), []batch.Ask{{
					Job: &batch.Job{Agreed: true}, Shapes: []batch.Shape{{Width: 4, Walltime: 5 * unit}},
				}})
				if err != nil || !ok || ests[0].Kind == batch.Forecast {
					t.Fatalf("%+v, %v, %v", ests, ok, err)
				}
				agreed := func(name string, deadline batch.Time) batch.Command {
					cmd := into("", name, 4, 5)
					cmd.Job.Agreed, cmd.Job.Deadline, cmd.Promise = true, deadline, true
					return cmd
				}
				end := ests[0].End(0, 5*unit)
				refused(t, s, agreed("no", end-batch.Time(batch.Second)), ReasonNoRoom)
				do(t, s, agreed("yes", end.Add(batch.Second)))
				begun := time.Now()
				in := await(t, s, "in", batch.PhaseRunning)
				if at := in.Started.Sub(begun).Round(time.Second); at != (10 * unit).Std() {
					t.Errorf("it started after %v", at)
				}
				yes := await(t, s, "yes", batch.PhaseEnded)
				if late := yes.Ended.Sub(wall(end)); late > 2*time.Second {
					t.Errorf("the agreed job ended %v late", late)
				}
				if err := s.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
