package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestCloseEndsWhatRunsAndAnswersAfterwards(t *testing.T) {
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
		// The order is refused as soon as Close has reached the loop.
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

func TestCallsThatTheLoopNeverTookEndWithTheirContext(t *testing.T) {
	s := &System{calls: make(chan *call), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, snap := s.Snapshot(ctx)
	_, found := s.Find(ctx, nil)
	_, watch := s.Watch(ctx, 0)
	_, _, _, estimate := s.Estimate(ctx, nil)
	for name, err := range map[string]error{
		"do": s.Do(ctx, nil), "snapshot": snap, "find": found, "watch": watch, "estimate": estimate, "close": s.Close(ctx),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCloseKillsWhatIsOnlyBeingLaunched(t *testing.T) {
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
