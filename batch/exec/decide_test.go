package exec

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// minute returns the submission of the first job with a walltime of a minute.
func minute() batch.Command {
	cmd := submission("a", 1, batch.Program{Args: []string{"x"}})
	cmd.Job.Shape.Walltime = batch.Minute
	return cmd
}

// at is an action at an instant after the start of the test.
type at struct {
	after   time.Duration
	signals []syscall.Signal
	phase   batch.Phase
	free    int32
}

// follow runs one job of a minute under a scripted policy, in virtual time, and checks it at
// the given instants. The job ends by SIGKILL.
func follow(t *testing.T, script []line, looks []at) (batch.Found, string) {
	t.Helper()
	var end batch.Found
	p := newToy(4, script...)
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s := open(t, Config{Policy: p, Launcher: l})
		begun := time.Now()
		do(t, s, minute())
		proc := <-l.launched
		for _, look := range looks {
			// Passes are at different instants, so each can be a microsecond late.
			time.Sleep(look.after + 100*time.Microsecond - time.Since(begun)) //nolint:forbidigo // virtual time
			synctest.Wait()
			snap := snapshot(t, s)
			got := at{look.after, proc.signals(), find(t, s, "a").Phase, snap.Free}
			if diff := cmp.Diff(look, got, cmp.AllowUnexported(at{})); diff != "" {
				t.Errorf("after %v: %s", look.after, diff)
			}
		}
		end = find(t, s, "a")
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	})
	return end, p.received()
}

const (
	term = syscall.SIGTERM
	kill = syscall.SIGKILL
	stop = syscall.SIGSTOP
	cont = syscall.SIGCONT
)

func TestWalltimeThenGraceThenKill(t *testing.T) {
	end, _ := follow(t, nil, []at{
		{59*time.Second + 999*time.Millisecond, nil, batch.PhaseRunning, 3},
		{60 * time.Second, []syscall.Signal{term}, batch.PhaseRunning, 3},
		{69*time.Second + 999*time.Millisecond, []syscall.Signal{term}, batch.PhaseRunning, 3},
		{70 * time.Second, []syscall.Signal{term, kill}, batch.PhaseEnded, 4},
	})
	if end.Outcome.End != batch.EndKilled || end.Ended.Sub(end.Started).Round(time.Millisecond) != 70*time.Second {
		t.Errorf("%+v", end)
	}
}

func TestPausedJobFreesItsProcessorsAndItsWalltimeStops(t *testing.T) {
	_, received := follow(t, []line{
		{10 * batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}},
		{100 * batch.Second, batch.Decision{Kind: batch.Resume, Job: 1}},
	}, []at{
		{9 * time.Second, nil, batch.PhaseRunning, 3},
		{10 * time.Second, []syscall.Signal{stop}, batch.PhasePaused, 4},
		{99 * time.Second, []syscall.Signal{stop}, batch.PhasePaused, 4},
		{100 * time.Second, []syscall.Signal{stop, cont}, batch.PhaseRunning, 3},
		{149 * time.Second, []syscall.Signal{stop, cont}, batch.PhaseRunning, 3},
		{150 * time.Second, []syscall.Signal{stop, cont, term}, batch.PhaseRunning, 3},
		{161 * time.Second, []syscall.Signal{stop, cont, term, kill}, batch.PhaseEnded, 4},
	})
	if want := "submit a, stopped a 10s, resumed a, finish a"; received != want {
		t.Errorf("policy received %q, want %q", received, want)
	}
}

func TestHalfTheShareUsesHalfTheWalltime(t *testing.T) {
	half := []batch.NodeAllocation{{Node: 0, Processors: 1, Share: batch.One / 2}}
	follow(t, []line{{10 * batch.Second, batch.Decision{Kind: batch.SetShare, Job: 1, Allocation: half}}}, []at{
		{11 * time.Second, nil, batch.PhaseRunning, 3},
		{109 * time.Second, nil, batch.PhaseRunning, 3},
		{110 * time.Second, []syscall.Signal{term}, batch.PhaseRunning, 3},
	})
}

func TestPolicyCanKill(t *testing.T) {
	end, _ := follow(t, []line{{10 * batch.Second, batch.Decision{Kind: batch.Kill, Job: 1}}}, []at{
		{10 * time.Second, []syscall.Signal{term}, batch.PhaseRunning, 3},
		{20 * time.Second, []syscall.Signal{term, kill}, batch.PhaseEnded, 4},
	})
	want := batch.Outcome{End: batch.EndKilled, Signal: "SIGKILL", Reason: "ended by the policy"}
	if diff := cmp.Diff(want, end.Outcome); diff != "" {
		t.Error(diff)
	}
}

func TestPausedJobIsContinuedToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		p := newToy(4, line{batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}})
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, minute())
		await(t, s, "a", batch.PhasePaused)
		do(t, s, order(batch.CmdCancel, "a"))
		await(t, s, "a", batch.PhaseEnded)
		if diff := cmp.Diff([]syscall.Signal{stop, term, cont, kill}, (<-l.launched).signals()); diff != "" {
			t.Error(diff)
		}
	})
}

// slowFakes is a launcher that waits for the test before it returns.
type slowFakes struct {
	fakes
	begun, now chan struct{}
}

func (l slowFakes) Launch(spec Spec) (Launched, error) {
	l.begun <- struct{}{}
	<-l.now
	return l.fakes.Launch(spec)
}

func TestSignalsWaitForTheLaunch(t *testing.T) {
	for name, want := range map[string][]syscall.Signal{"pause": {stop}, "cancel": {term}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := slowFakes{newFakes(), make(chan struct{}), make(chan struct{})}
				p := newToy(4)
				if name == "pause" {
					p.script = []line{{batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}}}
				}
				s := open(t, Config{Policy: p, Launcher: l})
				do(t, s, minute())
				<-l.begun
				time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
				if name == "cancel" {
					do(t, s, order(batch.CmdCancel, "a"))
				}
				if f := find(t, s, "a"); f.Phase != batch.PhaseStarting {
					t.Errorf("phase %d while it is being launched", f.Phase)
				}
				l.now <- struct{}{}
				proc := <-l.launched
				synctest.Wait()
				if diff := cmp.Diff(want, proc.signals()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestJobThatEndedByItselfIsNotCanceled(t *testing.T) {
	l := newFakes()
	s := open(t, Config{Launcher: l})
	do(t, s, minute())
	proc := <-l.launched
	proc.mu.Lock()
	proc.gone = true
	proc.mu.Unlock()
	do(t, s, order(batch.CmdCancel, "a"))
	proc.end <- Exit{Code: 4}
	f := await(t, s, "a", batch.PhaseEnded)
	if f.Outcome.End != batch.EndFailed || f.Outcome.ExitCode != 4 {
		t.Errorf("%+v, want its own exit code 4", f.Outcome)
	}
}

func TestImpossibleDecisionFaultsTheSystem(t *testing.T) {
	everything := []batch.NodeAllocation{{Node: 0, Processors: 2, Share: batch.One}}
	for _, c := range []struct {
		name string
		d    batch.Decision
		want error
	}{
		{"migrate a waiting job", batch.Decision{Kind: batch.Migrate, Job: 2, Allocation: everything}, ErrWrongState},
		{"migrate to more", batch.Decision{Kind: batch.Migrate, Job: 1, Allocation: everything}, ErrWrongState},
		{"migrate nowhere", batch.Decision{
			Kind: batch.Migrate, Job: 1, Allocation: []batch.NodeAllocation{{Node: 2, Processors: 1, Share: batch.One}},
		}, ErrNoCapacity},
		{"migrate without a share", batch.Decision{
			Kind: batch.Migrate, Job: 1, Allocation: []batch.NodeAllocation{{Node: 1, Processors: 1}},
		}, ErrNoCapacity},
		{"unknown job", batch.Decision{Kind: batch.Start, Job: 99}, ErrWrongState},
		{"no job", batch.Decision{Kind: batch.Start}, ErrWrongState},
		{"start again", batch.Decision{Kind: batch.Start, Job: 1}, ErrWrongState},
		{"resume a running job", batch.Decision{Kind: batch.Resume, Job: 1}, ErrWrongState},
		{"pause a waiting job", batch.Decision{Kind: batch.Pause, Job: 2}, ErrWrongState},
		{"kill a waiting job", batch.Decision{Kind: batch.Kill, Job: 2}, ErrWrongState},
		{"share elsewhere", batch.Decision{Kind: batch.SetShare, Job: 1, Allocation: everything}, ErrWrongState},
		{"share of nothing", batch.Decision{
			Kind: batch.SetShare, Job: 1, Allocation: []batch.NodeAllocation{{Processors: 1}},
		}, ErrNoCapacity},
		{"start in use", batch.Decision{Kind: batch.Start, Job: 2, Allocation: everything}, ErrNoCapacity},
		{"start too wide", batch.Decision{Kind: batch.Start, Job: 2}, ErrNoCapacity},
		{"start nowhere", batch.Decision{
			Kind: batch.Start, Job: 2, Allocation: []batch.NodeAllocation{{Node: 2, Processors: 1, Share: batch.One}},
		}, ErrNoCapacity},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newFakes()
				s := open(t, Config{Policy: newToy(4, line{batch.Second, c.d}), Launcher: l})
				do(t, s, minute(), submission("wide", 4, batch.Program{Args: []string{"x"}}))
				time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
				synctest.Wait()
				var fault *DecisionError
				if err := s.Err(); !errors.Is(err, c.want) || !errors.As(err, &fault) || fault.Decision != c.d.Kind {
					t.Fatalf("error %v, want %v", err, c.want)
				}
				if free := snapshot(t, s).Free; free != 3 {
					t.Errorf("%d processors free, want 3: a refused decision books nothing", free)
				}
				ctx := context.Background()
				wantReason(t, s.Do(ctx, []batch.Command{submission("c", 1, batch.Program{Args: []string{"x"}})}),
					ReasonFaulted)
				if _, _, _, err := s.Estimate(ctx, nil); !errors.Is(err, c.want) {
					t.Errorf("estimate: %v, want %v", err, c.want)
				}
				do(t, s, order(batch.CmdCancel, "wide"))
				(<-l.launched).end <- Exit{}
				if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndDone {
					t.Errorf("running job: %+v, want it to end as if nothing had happened", f.Outcome)
				}
			})
		})
	}
}

func TestJobsWithSharesOfAProcessorLiveSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		p := newToy(4)
		p.allocation = []batch.NodeAllocation{{Node: 1, Processors: 1, Share: batch.One / 2}}
		s := open(t, Config{Policy: p, Launcher: l, Grace: 1})
		do(t, s, minute())
		do(t, s, submission("b", 1, batch.Program{Args: []string{"x"}}))
		if !slices.Contains((<-l.launched).spec.Env, "DROVER_NODES=n2:1") {
			t.Error("the program does not get its allocation")
		}
		if free := snapshot(t, s).Free; free != 3 {
			t.Errorf("%d processors free beside one that two jobs share, want 3", free)
		}
		if err := s.Err(); err != nil {
			t.Error(err)
		}
		f := await(t, s, "a", batch.PhaseEnded)
		if ran := f.Ended.Sub(f.Started).Round(time.Millisecond); ran != 2*time.Minute {
			t.Errorf("ended after %v, want twice the walltime at half the share", ran)
		}
	})
}

func TestWaitingJobStartsAsSoonAsAnotherIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newToy(4, line{batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}})
		s := open(t, Config{Policy: p, Launcher: newFakes(), Grace: 1})
		do(t, s, minute(), submission("wide", 4, batch.Program{Args: []string{"x"}}))
		begun := time.Now()
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		synctest.Wait()
		if after := find(t, s, "wide").Started.Sub(begun).Round(time.Millisecond); after != time.Second {
			t.Errorf("started after %v, want 1s", after)
		}
	})
}

func TestEndsOfOneInstantComeInSubmissionOrder(t *testing.T) {
	p := newToy(4)
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, minute())
		first := <-l.launched
		do(t, s, submission("b", 1, batch.Program{Args: []string{"x"}}))
		second := <-l.launched
		synctest.Wait() // for the launches
		// The loop is blocked until both have ended, the second first.
		err := s.ask(context.Background(), func(batch.Time) {
			synctest.Wait()
			second.end <- Exit{}
			synctest.Wait()
			first.end <- Exit{}
			synctest.Wait()
		})
		if err != nil {
			t.Fatal(err)
		}
		await(t, s, "a", batch.PhaseEnded)
	})
	if diff := cmp.Diff("submit a, submit b, finish a, finish b", p.received()); diff != "" {
		t.Error(diff)
	}
}

func TestDeadlinesComeInOrderAndCanBeRemoved(t *testing.T) {
	var d deadlines
	var all [5]attempt
	for i := range all {
		all[i].run = &run{}
	}
	for i, at := range []batch.Time{30, 10, 20, 10, 40} {
		all[i].order = uint64(i)
		d.set(&all[i], at)
	}
	d.set(&all[2], batch.Never)
	d.set(&all[2], batch.Never)
	d.set(&all[4], 5)
	if d.next() != 5 || d.pop(4) != nil || len(d.heap) != 4 {
		t.Errorf("next %d of %d", d.next(), len(d.heap))
	}
	for _, want := range []int{4, 1, 3, 0} {
		if got := d.pop(100); got != &all[want] {
			t.Errorf("got attempt %d, want %d", got.order, want)
		}
	}
	if d.next() != batch.Never {
		t.Error("something is left")
	}
}

func TestWalltimeAtAShareIsRoundedUp(t *testing.T) {
	r := run{since: 100, share: batch.One / 4 * 3}
	if got := r.limit(2); got != 103 {
		t.Errorf("2 µs of work at 3/4 from 100 on end at %d, want 103", got)
	}
	r.settle(103, batch.One)
	if r.work != 2 {
		t.Errorf("3 µs at 3/4 are %d µs of work, want 2", r.work)
	}
}

func TestWalltimesBeyondAllTimeNeverEnd(t *testing.T) {
	for _, share := range []batch.Share{batch.One, batch.One / 2, 1} {
		r := run{since: 1 << 50, share: share}
		if got := r.limit(batch.Forever - 1); got != batch.Never {
			t.Errorf("share %d: ends at %d", share, got)
		}
	}
}
