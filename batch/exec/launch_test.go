package exec

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// shaped provides programs with the shape as an argument.
type shaped struct{}

func (shaped) Program(key batch.Key, shape batch.Shape) (batch.Program, error) {
	return batch.Program{Args: []string{string(key.Job), shape.String()}}, nil
}

func TestProgramMatchesTheShapeOfTheLaunch(t *testing.T) {
	l := newFakes()
	s := open(t, Config{Launcher: l, Programs: shaped{}, Grace: 1})
	do(t, s, submission("wide", 4, batch.Program{}), submission("a", 4, batch.Program{}))
	do(t, s, placement("a", false, hours(2, 3)))
	for _, want := range [][]string{{"wide", "4x1h0m0s"}, {"a", "2x3h0m0s"}} {
		p := <-l.launched
		if !slices.Equal(p.spec.Args, want) || p.spec.Key != key(want[0]) || p.spec.Shape.String() != want[1] {
			t.Errorf("launched %q as %v with %v, want %q", p.spec.Args, p.spec.Key, p.spec.Shape, want)
		}
		p.end <- Exit{}
	}
}

// broken holds programs that cannot be started, by the names of their jobs.
type broken struct{}

func (broken) Program(key batch.Key, _ batch.Shape) (batch.Program, error) {
	p := batch.Program{Args: []string{"x"}, Env: map[string]string{}}
	switch key.Job {
	case "no args":
		p.Args = nil
	case "no command":
		p.Args[0] = ""
	case "NUL in args":
		p.Args = append(p.Args, "\x00")
	case "env name":
		p.Env["A=B"] = ""
	case "env value":
		p.Env["A"] = "\x00"
	case "refused":
		return p, errors.New("no such service")
	case "never ran":
		return p, fmt.Errorf("it was withdrawn: %w", ErrNeverRan)
	}
	return p, nil
}

func TestProgramThatCannotBeStartedEndsItsJobWithTheReason(t *testing.T) {
	s := open(t, Config{Launcher: newFakes(), Programs: broken{}})
	for name, want := range map[string]batch.Outcome{
		"no args": {
			End: batch.EndStartFailed, Reason: "program: args: empty, accepted: a command and its arguments",
		},
		"no command": {
			End: batch.EndStartFailed, Reason: "program: args: empty, accepted: a command and its arguments",
		},
		"NUL in args": {End: batch.EndStartFailed, Reason: "program: args[1]: contains NUL"},
		"env name": {
			End: batch.EndStartFailed, Reason: `program: env: "A=B", accepted: names without = and values without NUL`,
		},
		"env value": {
			End: batch.EndStartFailed, Reason: `program: env: "A", accepted: names without = and values without NUL`,
		},
		"refused":   {End: batch.EndStartFailed, Reason: "no such service"},
		"never ran": {End: batch.EndNeverRan, Reason: "it was withdrawn: it never ran"},
	} {
		do(t, s, submission(name, 4, batch.Program{}))
		f := await(t, s, name, batch.PhaseEnded)
		if diff := cmp.Diff(want, f.Outcome); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if snap := snapshot(t, s); snap.Free != 4 {
		t.Errorf("%d processors free, want all 4", snap.Free)
	}
}

// refusing is a launcher that always fails.
type refusing struct{ err error }

func (l refusing) Launch(Spec) (Launched, error) { return nil, l.err }

func TestLaunchThatRanNothingDiffersFromAFailedOne(t *testing.T) {
	for err, want := range map[error]batch.Outcome{
		errors.New("no such file"):                                {End: batch.EndStartFailed},
		fmt.Errorf("claimed by a server: %w", ErrNeverRan):        {End: batch.EndNeverRan},
		fmt.Errorf("no files: %w, %w", ErrNeverRan, ErrHostFault): {End: batch.EndNeverRan, HostFault: true},
	} {
		p := newToy(4)
		s := open(t, Config{Launcher: refusing{err}, Policy: p})
		do(t, s, submission("a", 4, self("exit")))
		f := await(t, s, "a", batch.PhaseEnded)
		want.Reason = err.Error()
		if diff := cmp.Diff(want, f.Outcome); diff != "" {
			t.Error(diff)
		}
		wantTold(t, s, p, "submit a, finish a")
	}
}

func TestAttemptIsNotRunningBeforeItIsLaunched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := slowFakes{newFakes(), make(chan struct{}), make(chan struct{})}
		s := open(t, Config{Launcher: l, Grace: 1})
		do(t, s, minute())
		<-l.begun
		synctest.Wait()
		starting := find(t, s, "a")
		if starting.Phase != batch.PhaseStarting || starting.Started.IsZero() || len(starting.Allocation) != 1 {
			t.Errorf("%+v, want it to be starting, with its allocation", starting)
		}
		if snap := snapshot(t, s); snap.Free != 3 || len(snap.Running) != 1 {
			t.Errorf("%+v, want it to hold its processor", snap)
		}
		refused(t, s, order(batch.CmdHold, "a"), ReasonNotWaiting)
		ctx := t.Context()
		seen, err := s.Watch(ctx, 0)
		if err != nil || len(seen.Jobs) != 1 || seen.Jobs[0].Phase != batch.PhaseStarting {
			t.Fatalf("%+v, %v", seen, err)
		}
		l.now <- struct{}{}
		seen, err = s.Watch(ctx, seen.Next) // only the launch wakes it
		if err != nil || len(seen.Jobs) != 1 || seen.Jobs[0].Phase != batch.PhaseRunning ||
			!seen.Jobs[0].Started.Equal(starting.Started) {
			t.Errorf("%+v, %v", seen, err)
		}
		f := await(t, s, "a", batch.PhaseEnded)
		if f.Outcome.End != batch.EndKilled || len(f.Allocation) != 1 || f.Nodes[0] != "n1" {
			t.Errorf("%+v", f)
		}
	})
}

func TestUnobservedExitIsLost(t *testing.T) {
	l := newFakes()
	s := open(t, Config{Launcher: l, Grace: batch.Hour})
	for _, c := range []struct {
		exit   Exit
		cancel bool
		want   batch.Outcome
	}{
		{
			Exit{Lost: true, Reason: "the host was restarted"},
			false,
			batch.Outcome{End: batch.EndLost, Reason: "the host was restarted"},
		},
		{
			Exit{Lost: true, Code: 3, Signal: syscall.SIGHUP},
			false,
			batch.Outcome{End: batch.EndLost, Reason: "its exit was not observed"},
		},
		{Exit{Lost: true}, true, batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}},
		{Exit{Lost: true, Unsignaled: true}, true, batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}},
	} {
		name := fmt.Sprint(c.exit, c.cancel)
		do(t, s, submission(name, 4, self("exit")))
		proc := <-l.launched
		if c.cancel {
			await(t, s, name, batch.PhaseRunning)
			do(t, s, order(batch.CmdCancel, name))
		}
		proc.end <- c.exit
		f := await(t, s, name, batch.PhaseEnded)
		if diff := cmp.Diff(c.want, f.Outcome); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
