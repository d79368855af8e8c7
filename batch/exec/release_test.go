package exec

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// supervised is a fake that can be left running.
type supervised struct {
	*fake
	once sync.Once
	left chan struct{}
}

func (p *supervised) Detach() { p.once.Do(func() { close(p.left) }) }

func (p *supervised) Wait() Exit {
	select {
	case exit := <-p.end:
		return exit
	case <-p.left:
		return Exit{Detached: true}
	}
}

// supervisors is a launcher of such fakes.
type supervisors struct{ launched chan *supervised }

func (l supervisors) Launch(spec Spec) (Launched, error) {
	p := &supervised{fake: &fake{spec: spec, end: make(chan Exit, 1)}, left: make(chan struct{})}
	l.launched <- p
	return p, nil
}

func TestReleaseLeavesWhatRunsAlone(t *testing.T) {
	l := supervisors{make(chan *supervised, 8)}
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p})
	do(t, s, submission("a", 2, self("exit")), submission("b", 2, self("exit")), submission("waits", 4, self("exit")))
	await(t, s, "a", batch.PhaseRunning)
	await(t, s, "b", batch.PhaseRunning)
	do(t, s, order(batch.CmdCancel, "b")) // has not ended when the system does
	ctx := context.Background()
	if err := s.Release(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		proc := <-l.launched
		<-proc.left
		if got := proc.signals(); len(got) > 0 && proc.spec.Key != key("b") {
			t.Errorf("%s got %v", proc.spec.Key.Job, got)
		}
	}
	wantState(t, s, "a:running b:running / waits:queued")
	wantReason(t, s.Do(ctx, []batch.Command{order(batch.CmdCancel, "a")}), ReasonClosed)
	seen, err := s.Watch(ctx, 0)
	if err != nil || names(seen.Jobs) != "waits:queued a:running b:running" && names(seen.Jobs) != "waits:queued b:running a:running" {
		t.Errorf("watched %s, %v", names(seen.Jobs), err)
	}
	if _, err := s.Watch(ctx, seen.Next); !errors.Is(err, ErrClosed) {
		t.Errorf("watch at the end: %v", err)
	}
	if err := errors.Join(s.Release(ctx), s.Close(ctx)); err != nil {
		t.Error(err)
	}
	if got := p.told(); got != "submit a, submit b, submit waits" {
		t.Errorf("policy was told %q", got)
	}
}

func TestReleaseSendsNoSignalWhenAWalltimeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := slowFakes{newFakes(), make(chan struct{}), make(chan struct{})}
		s := open(t, Config{Launcher: l})
		do(t, s, minute())
		<-l.begun
		do(t, s, order(batch.CmdCancel, "a"))
		released := make(chan error)
		go func() { released <- s.Release(t.Context()) }()
		time.Sleep(time.Hour) //nolint:forbidigo // virtual time
		l.now <- struct{}{}
		if err := <-released; err != nil {
			t.Error(err)
		}
		proc := <-l.launched
		if f := find(t, s, "a"); f.Phase != batch.PhaseRunning || len(proc.signals()) > 0 {
			t.Errorf("%+v got %v", f, proc.signals())
		}
		proc.end <- Exit{} // nobody is left who would
	})
}

func TestReleaseGivesUpLaunchesWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := slowFakes{newFakes(), make(chan struct{}), make(chan struct{})}
		s := open(t, Config{Launcher: l})
		do(t, s, minute())
		<-l.begun
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("release: %v", err)
		}
		if f := find(t, s, "a"); f.Phase != batch.PhaseStarting {
			t.Errorf("%+v", f)
		}
		l.now <- struct{}{}
		(<-l.launched).end <- Exit{}
	})
}

func TestLaunchThatFailsDuringReleaseIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, now := make(chan struct{}), make(chan struct{})
		s := open(t, Config{Launcher: failsLate{begun, now}})
		do(t, s, minute())
		<-begun
		released := make(chan error)
		go func() { released <- s.Release(t.Context()) }()
		synctest.Wait()
		close(now)
		if err := <-released; err != nil {
			t.Error(err)
		}
		if f := find(t, s, "a"); f.Phase != batch.PhaseStarting {
			t.Errorf("%+v, want it left as it was", f)
		}
	})
}

type failsLate struct{ begun, now chan struct{} }

func (l failsLate) Launch(Spec) (Launched, error) {
	close(l.begun)
	<-l.now
	return nil, errors.New("the server stops")
}

func TestReleasedProcessesRunOn(t *testing.T) {
	l := newUntilReady(t)
	s := open(t, Config{Launcher: l})
	cmd := submission("a", 1, self("polite"))
	shelf.of(cmd).Env[ready] = l.fifo
	do(t, s, cmd)
	pids := <-l.pids
	if err := s.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !alive(pids[0]) || !alive(pids[1]) {
		t.Error("processes were ended")
	}
	// Its goroutine goes with it: that is what goleak looks for.
	if err := syscall.Kill(-pids[0], syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// slowSecond is a launcher of fakes whose second launch takes as long as the test
// says.
type slowSecond struct {
	slowFakes
	first *sync.Once
}

func (l slowSecond) Launch(spec Spec) (proc Launched, err error) {
	l.first.Do(func() { proc, err = l.fakes.Launch(spec) })
	if proc != nil || err != nil {
		return proc, err
	}
	return l.slowFakes.Launch(spec)
}

func TestNothingHappensToWhatIsLeftWhileALaunchIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := slowSecond{slowFakes{newFakes(), make(chan struct{}), make(chan struct{})}, new(sync.Once)}
		s := open(t, Config{Launcher: l})
		do(t, s, minute())
		runs := <-l.launched
		await(t, s, "a", batch.PhaseRunning)
		do(t, s, submission("b", 1, self("exit")))
		<-l.begun
		released := make(chan error)
		go func() { released <- s.Release(t.Context()) }()
		time.Sleep(time.Hour) //nolint:forbidigo // virtual time
		over, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Close(over); err != nil {
			t.Errorf("close: %v", err)
		}
		if got := runs.signals(); len(got) > 0 {
			t.Errorf("what runs got %v", got)
		}
		runs.end <- Exit{}
		synctest.Wait()
		l.now <- struct{}{}
		if err := <-released; err != nil {
			t.Error(err)
		}
		wantState(t, s, "a:running b:running / ")
		if f := find(t, s, "b"); f.Phase != batch.PhaseRunning {
			t.Errorf("%+v, want its launch to be seen", f)
		}
		(<-l.launched).end <- Exit{}
	})
}
