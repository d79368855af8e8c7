package exec

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// toNode2 is a policy that moves the first job after 10 s.
var toNode2 = line{10 * batch.Second, batch.Decision{Kind: batch.Migrate, Job: 1, Allocation: on(1, batch.One)}}

func TestJobWithoutACheckpointMovesOnItsHostWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSharers()
		p := newToy(4, toNode2)
		s := open(t, Config{Policy: p, Launcher: l, Hosts: []int32{7, 7}})
		do(t, s, minute())
		proc := <-l.launched
		after(11 * time.Second)
		if diff := cmp.Diff([][]batch.NodeAllocation{on(1, batch.One)}, proc.shares()); diff != "" {
			t.Error(diff)
		}
		if f := find(t, s, "a"); f.Phase != batch.PhaseRunning || !cmp.Equal(f.Nodes, []string{"n2"}) {
			t.Errorf("%+v", f)
		}
		if free := snapshot(t, s).Free; free != 3 {
			t.Errorf("%d processors free", free)
		}
		do(t, s, submission("b", 2, batch.Program{Args: []string{"x"}})) // on the first job's old node
		if got := (<-l.launched).spec.Allocation; got[0].Node != 0 || got[0].Processors != 2 {
			t.Errorf("the next job is at %v", got)
		}
		after(48500 * time.Millisecond)
		if got := proc.signals(); len(got) > 0 {
			t.Errorf("%v before its walltime", got)
		}
		after(time.Second)
		if diff := cmp.Diff([]syscall.Signal{term}, proc.signals()); diff != "" {
			t.Error(diff)
		}
		proc.end <- Exit{}
		synctest.Wait()
		if got, want := strings.Replace(p.received(), "10.000001s", "10s", 1),
			"submit a, stopped a 10s, resumed a, submit b, finish a"; got != want {
			t.Errorf("received %q, want %q", got, want)
		}
	})
}

func TestJobWithoutACheckpointIsNotMovedToAnotherHost(t *testing.T) {
	for name, script := range map[string][]line{
		"running": {toNode2},
		"paused": {
			{batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}},
			{10 * batch.Second, batch.Decision{Kind: batch.Resume, Job: 1, Allocation: on(1, batch.One)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newSharers()
				s := open(t, Config{Policy: newToy(4, script...), Launcher: l, Hosts: []int32{0, 1}, Grace: 1})
				do(t, s, minute())
				after(11 * time.Second)
				var fault *DecisionError
				if err := s.Err(); !errors.Is(err, ErrUnsupported) || !errors.As(err, &fault) || fault.Key != key("a") {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

func TestCheckpointedJobMovesToAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSharers()
		share := func(after batch.Duration, of batch.Share) line {
			return line{after, batch.Decision{Kind: batch.SetShare, Job: 1, Allocation: on(1, of)}}
		}
		p := newToy(4, toNode2, share(12*batch.Second, batch.One/2), share(14*batch.Second, batch.One/4),
			share(16*batch.Second, batch.One))
		s := open(t, Config{Policy: p, Launcher: l, Hosts: []int32{0, 1}})
		do(t, s, saving(usr1))
		proc := <-l.launched
		after(13 * time.Second)
		if diff := cmp.Diff([]syscall.Signal{syscall.SIGUSR1}, proc.signals()); diff != "" {
			t.Error(diff)
		}
		if free := snapshot(t, s).Free; free != 2 {
			t.Errorf("%d processors free while it is here and there", free)
		}
		proc.end <- Exit{Code: batch.CheckpointStatus}
		if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndStopped ||
			!cmp.Equal(f.Nodes, []string{"n1"}) {
			t.Errorf("%+v", f)
		}
		after(2 * time.Second) // its share changes during the move
		if received := p.received(); received != "submit a" {
			t.Errorf("received %q before the next attempt is there", received)
		}
		do(t, s, next(2, 49*batch.Second))
		again := <-l.launched
		if diff := cmp.Diff(on(1, batch.One/4), again.spec.Allocation); diff != "" || again.spec.Key.Attempt != 2 {
			t.Error(again.spec.Key, diff)
		}
		synctest.Wait()
		if received := p.received(); !strings.HasPrefix(received, "submit a, stopped a 13") ||
			!strings.HasSuffix(received, "s, resumed a") {
			t.Errorf("received %q", received)
		}
		after(2 * time.Second)
		if diff := cmp.Diff([][]batch.NodeAllocation{on(1, batch.One)}, again.shares()); diff != "" ||
			len(proc.shares()) > 0 {
			t.Error(diff, proc.shares())
		}
		if free := snapshot(t, s).Free; free != 3 {
			t.Errorf("%d processors free when it has arrived", free)
		}
		again.end <- Exit{}
		synctest.Wait()
		if received := p.received(); !strings.HasSuffix(received, "resumed a, finish a") || s.Err() != nil ||
			snapshot(t, s).Free != 4 {
			t.Errorf("received %q, %v, %d free", received, s.Err(), snapshot(t, s).Free)
		}
	})
}

func TestJobCanEndDuringAMove(t *testing.T) {
	for name, c := range map[string]struct {
		checkpoint bool
		do         func(t *testing.T, s *System, p *sharer)
		end        batch.End
		received   string
	}{
		"done": {true, func(_ *testing.T, _ *System, p *sharer) { p.end <- Exit{} }, batch.EndDone, "finish a"},
		"failed": {
			true, func(_ *testing.T, _ *System, p *sharer) { p.end <- Exit{Code: 1} }, batch.EndKilled,
			"finish a broken",
		},
		"too slow": {true, func(*testing.T, *System, *sharer) {}, batch.EndKilled, "finish a broken"},
		"lost": {
			true, func(_ *testing.T, _ *System, p *sharer) { p.end <- Exit{Lost: true} }, batch.EndLost, "finish a",
		},
		"moved": {
			false, func(_ *testing.T, _ *System, p *sharer) {
				p.end <- Exit{}
			}, batch.EndDone, "stopped a 10s, resumed a, finish a",
		},
		"cancelled": {
			true, func(t *testing.T, s *System, _ *sharer) { do(t, s, order(batch.CmdCancel, "a")) },
			batch.EndCancelled, "finish a",
		},
		"cancelled during the move": {true, func(t *testing.T, s *System, p *sharer) {
			p.end <- Exit{Code: batch.CheckpointStatus}
			await(t, s, "a", batch.PhaseEnded)
			do(t, s, order(batch.CmdCancel, "a"))
		}, batch.EndStopped, "finish a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newSharers()
				p := newToy(4, toNode2)
				s := open(t, Config{Policy: p, Launcher: l})
				cmd := minute()
				if c.checkpoint {
					cmd = saving(usr1)
				}
				do(t, s, cmd)
				proc := <-l.launched
				after(11 * time.Second)
				c.do(t, s, proc)
				f := await(t, s, "a", batch.PhaseEnded)
				if f.Outcome.End != c.end {
					t.Errorf("%+v", f.Outcome)
				}
				if got, want := strings.Replace(p.received(), "10.000001s", "10s", 1),
					"submit a, "+c.received; got != want || snapshot(t, s).Free != 4 || s.Err() != nil {
					t.Errorf("received %q, want %q; %d free, %v", got, want, snapshot(t, s).Free, s.Err())
				}
				// The handle can be used again.
				do(t, s, submission("b", 4, batch.Program{Args: []string{"x"}}))
				(<-l.launched).end <- Exit{}
			})
		})
	}
}

func TestJobMovedDuringItsLaunchMovesAfterIt(t *testing.T) {
	for name, checkpoint := range map[string]bool{"with a checkpoint": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := slowSharers{newSharers(), make(chan struct{})}
				p := newToy(4, toNode2)
				s := open(t, Config{Policy: p, Launcher: l, Grace: 1})
				cmd := minute()
				if checkpoint {
					cmd = saving(usr1)
				}
				do(t, s, cmd)
				after(11 * time.Second)
				l.now <- struct{}{}
				proc := <-l.launched
				after(time.Second)
				if checkpoint {
					if diff := cmp.Diff([]syscall.Signal{syscall.SIGUSR1}, proc.signals()); diff != "" {
						t.Error(diff)
					}
					return
				}
				if diff := cmp.Diff([][]batch.NodeAllocation{on(1, batch.One)}, proc.shares()); diff != "" {
					t.Error(diff)
				}
				if received := p.received(); !strings.HasSuffix(received, "s, resumed a") {
					t.Errorf("received %q", received)
				}
			})
		})
	}
}
