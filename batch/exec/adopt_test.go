package exec

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
)

// found returns a running job of the given width on node n1, and its process.
func found(name string, width int32, walltime batch.Duration, started time.Time) (Adopted, *fake) {
	p := &fake{end: make(chan Exit, 1)}
	return Adopted{
		Key: key(name), Started: started, Process: p,
		Job:        &batch.Job{Shape: batch.Shape{Width: width, Walltime: walltime}, Name: name},
		Allocation: []batch.NodeAllocation{{Node: 0, Processors: width, Share: batch.One}},
	}, p
}

func TestAdoptedJobEndsAtItsWalltimeFromItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now().Add(-40 * time.Second)
		a, proc := found("a", 2, batch.Minute, begun)
		policy, err := cbf.New(machine, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, Config{Policy: policy, Launcher: newFakes(), Adopt: []Adopted{a}})
		f := find(t, s, "a")
		want := batch.Found{
			Key: key("a"), Phase: batch.PhaseRunning, Shape: a.Job.Shape, Started: begun.Truncate(time.Microsecond),
			Nodes: []string{"n1"}, Allocation: a.Allocation,
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Error(diff)
		}
		if free := snapshot(t, s).Free; free != 2 {
			t.Errorf("%d processors free, want the 2 that it has not", free)
		}
		if got := startOf(t, s); got != 20*time.Second {
			t.Errorf("a job of the whole machine starts in %v, want when the rest of its walltime is over", got)
		}
		do(t, s, submission("a", 4, self("exit"))) // known
		f = await(t, s, "a", batch.PhaseEnded)
		if ran := f.Ended.Sub(begun).Round(time.Millisecond); f.Outcome.End != batch.EndKilled ||
			ran != 70*time.Second {
			t.Errorf("%+v after %v", f.Outcome, ran)
		}
		if diff := cmp.Diff([]syscall.Signal{term, kill}, proc.signals()); diff != "" {
			t.Error(diff)
		}
		if free := snapshot(t, s).Free; free != 4 {
			t.Errorf("%d processors free, want all 4", free)
		}
	})
}

func TestAdoptedJobPastItsWalltimeIsEndedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, proc := found("a", 2, batch.Minute, time.Now().Add(-time.Hour))
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: newFakes(), Adopt: []Adopted{a}, Grace: batch.Hour})
		synctest.Wait()
		time.Sleep(time.Millisecond) //nolint:forbidigo // virtual time
		if diff := cmp.Diff([]syscall.Signal{term}, proc.signals()); diff != "" {
			t.Error(diff)
		}
		proc.end <- Exit{Signal: term}
		f := await(t, s, "a", batch.PhaseEnded)
		if f.Outcome.End != batch.EndKilled || f.Outcome.Reason != "walltime of 1m0s" {
			t.Errorf("%+v", f.Outcome)
		}
		wantTold(t, s, p, "adopt a, finish a")
	})
}

func TestAdoptedJobEndsAsItsProcess(t *testing.T) {
	a, proc := found("a", 2, batch.Minute, time.Now().Add(time.Hour)) // as after the clock was set back
	s := open(t, Config{Launcher: newFakes(), Adopt: []Adopted{a}})
	if f := find(t, s, "a"); time.Until(f.Started) > 0 {
		t.Errorf("started in %v", time.Until(f.Started))
	}
	proc.end <- Exit{Code: 3}
	f := await(t, s, "a", batch.PhaseEnded)
	if diff := cmp.Diff(batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"},
		f.Outcome); diff != "" {
		t.Error(diff)
	}
}

func TestJobsThatNoLongerFitAreNotAdopted(t *testing.T) {
	for want, spoil := range map[string]func(a *Adopted){
		"job bad: allocation[0]: node n1 does not have 2 free processors": func(*Adopted) {},
		"job bad: allocation[0]: node 2, the platform has 2 nodes": func(a *Adopted) {
			a.Allocation[0].Node = 2
		},
		"job bad: allocation: none": func(a *Adopted) { a.Allocation = nil },
		"job bad: process: missing": func(a *Adopted) { a.Process = nil },
		"job good: adopted twice":   func(a *Adopted) { a.Key = key("good") },
		"accepted: 1..4":            func(a *Adopted) { a.Job.Shape.Width = 5 },
		"job: missing":              func(a *Adopted) { a.Job = nil },
	} {
		good, _ := found("good", 1, batch.Minute, time.Now())
		bad, _ := found("bad", 2, batch.Minute, time.Now())
		spoil(&bad)
		_, err := New(Config{
			Policy: newToy(4), Platform: machine, Programs: &shelf, Launcher: newFakes(), Adopt: []Adopted{good, bad},
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// supervised is a fake process that outlives its System.
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

// supervisors is a launcher of supervised processes.
type supervisors struct{ launched chan *supervised }

func (l supervisors) Launch(spec Spec) (Launched, error) {
	p := &supervised{fake: &fake{spec: spec, end: make(chan Exit, 1)}, left: make(chan struct{})}
	l.launched <- p
	return p, nil
}

func TestReleaseLeavesRunningJobsAlone(t *testing.T) {
	l := supervisors{make(chan *supervised, 8)}
	p := newToy(4)
	s := open(t, Config{Launcher: l, Policy: p})
	do(t, s, submission("a", 2, self("exit")), submission("b", 2, self("exit")), submission("waits", 4, self("exit")))
	await(t, s, "a", batch.PhaseRunning)
	await(t, s, "b", batch.PhaseRunning)
	do(t, s, order(batch.CmdCancel, "b")) // still running when the system ends
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
	if err != nil || names(seen.Jobs) != "waits:queued a:running b:running" && names(
		seen.Jobs,
	) != "waits:queued b:running a:running" {
		t.Errorf("watched %s, %v", names(seen.Jobs), err)
	}
	if _, err := s.Watch(ctx, seen.Next); !errors.Is(err, ErrClosed) {
		t.Errorf("watch at the end: %v", err)
	}
	if err := errors.Join(s.Release(ctx), s.Close(ctx)); err != nil {
		t.Error(err)
	}
	if got := p.received(); got != "submit a, submit b, submit waits" {
		t.Errorf("policy received %q", got)
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
		proc.end <- Exit{} // no other code would
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

func TestLaunchThatFailsDuringReleaseIsNotReported(t *testing.T) {
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
	// goleak checks that its goroutine has ended.
	if err := syscall.Kill(-pids[0], syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// slowSecond is a launcher of fakes. The test controls the duration of the second launch.
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

func TestReleasedJobsAreUntouchedWhileALaunchIsPending(t *testing.T) {
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

func TestCloseEndsRunningJobsAndAnswersAfterwards(t *testing.T) {
	ctx := context.Background()
	l := newUntilReady(t)
	s := open(t, Config{Launcher: l, Grace: batch.Millisecond})
	var pids []int
	for _, name := range []string{"a", "b", "waiting"} {
		cmd := submission(name, 2, self("stubborn"))
		shelf.of(cmd).Env[ready] = l.fifo
		do(t, s, cmd)
		if name != "waiting" {
			both := <-l.pids
			pids = append(pids, both[:]...)
		}
	}
	seen, err := s.Watch(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d outlived Close", pid)
		}
	}
	ends, err := s.Watch(ctx, seen.Next)
	if err != nil || len(ends.Jobs) != 2 {
		t.Fatalf("ends after Close: %s, %v", names(ends.Jobs), err)
	}
	for _, f := range ends.Jobs {
		want := batch.Outcome{End: batch.EndFailed, Signal: "SIGKILL", Reason: "batch system closed"}
		if diff := cmp.Diff(want, f.Outcome); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := s.Watch(ctx, ends.Next); !errors.Is(err, ErrClosed) {
		t.Errorf("watch at the end: %v", err)
	}
	if snap := snapshot(t, s); names(snap.Waiting) != "waiting:queued" || snap.Free != 4 || len(snap.Running) != 0 {
		t.Errorf("snapshot: %+v", snap)
	}
	wantReason(t, s.Do(ctx, []batch.Command{submission("late", 1, self("exit"))}), ReasonClosed)
	if _, _, _, err := s.Estimate(ctx, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("estimate: %v", err)
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestCloseKillsAtOnceWhenItsContextEnds(t *testing.T) {
	l := newUntilReady(t)
	s := open(t, Config{Launcher: l, Grace: batch.Hour})
	cmd := submission("a", 1, self("stubborn"))
	shelf.of(cmd).Env[ready] = l.fifo
	do(t, s, cmd)
	pids := <-l.pids
	ctx, cancel := context.WithCancel(context.Background())
	closed := make(chan error)
	go func() { closed <- s.Close(ctx) }()
	for {
		// The loop refuses commands after Close has reached it.
		err := s.Do(context.Background(), []batch.Command{order(batch.CmdHold, "a")})
		if err != nil && strings.Contains(err.Error(), ReasonClosed) {
			break
		}
	}
	cancel()
	if err := <-closed; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 jobs") {
		t.Errorf("close: %v, want one job left and the context's error", err)
	}
	f := await(t, s, "a", batch.PhaseEnded)
	if f.Outcome.Signal != "SIGKILL" || alive(pids[0]) || alive(pids[1]) {
		t.Errorf("%+v", f)
	}
}

func TestPendingCallsEndWithTheirContext(t *testing.T) {
	s := &System{calls: make(chan *call), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, snap := s.Snapshot(ctx)
	_, found := s.Find(ctx, nil)
	_, watch := s.Watch(ctx, 0)
	_, _, _, estimate := s.Estimate(ctx, nil)
	for name, err := range map[string]error{
		"do": s.Do(ctx, nil), "snapshot": snap, "find": found, "watch": watch, "estimate": estimate,
		"close": s.Close(ctx),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCloseKillsJobsDuringTheirLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := slowFakes{newFakes(), make(chan struct{}), make(chan struct{})}
		s := open(t, Config{Launcher: l, Grace: batch.Hour})
		do(t, s, minute())
		<-l.begun
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
		l.now <- struct{}{}
		begun := time.Now()
		await(t, s, "a", batch.PhaseEnded)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("ended %v after its launch", took)
		}
	})
}
