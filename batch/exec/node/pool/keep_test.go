package pool

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
)

func TestSilentNodeIsReportedAtOnceAndItsMembersAreLostAfterTheLease(t *testing.T) {
	for name, deaf := range map[string]bool{"cut off": false, "its answers are lost": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newHost("a"), newHost("b")
				p := open(t, a, b)
				var n news
				p.Follow(n.changed)
				proc, all := launch(t, p, spec("j", batch.LaunchOnce, on(0, 1)), a)
				other, _ := launch(t, p, spec("k", batch.LaunchOnce, on(1, 1)), b)
				a.mu.Lock()
				a.cut, a.deaf = !deaf, deaf
				a.mu.Unlock()
				after(16 * time.Second) // a beat, and a third of the lease
				if diff := cmp.Diff([]string{"0 down"}, n.reported()); diff != "" {
					t.Error(diff)
				}
				after(13 * time.Second)
				if _, over := ending(proc); over || a.running() != 1 {
					t.Errorf("reported as ended: %v, %d run", over, a.running())
				}
				after(5 * time.Second) // lease and margin
				exit, over := ending(proc)
				if !over || !exit.Lost || !deaf && !strings.Contains(exit.Reason, "node a did not answer") ||
					a.running() != 0 {
					t.Errorf("%+v, %v; %d run", exit, over, a.running())
				}
				if _, over := ending(other); over {
					t.Error("the attempt on the other node ended, too")
				}
				a.mu.Lock()
				a.cut, a.deaf = false, false
				a.mu.Unlock()
				after(11 * time.Second)
				if diff := cmp.Diff([]string{"0 down", "0 up"}, n.reported()); diff != "" {
					t.Error(diff)
				}
				if len(all[0].signals()) > 0 {
					t.Error("an ended process received a signal")
				}
			})
		})
	}
}

func TestPartitionThatHealsWithinTheLeaseEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		p := open(t, a)
		var n news
		p.Follow(n.changed)
		proc, all := launch(t, p, spec("j", batch.LaunchOnce, on(0, 1)), a)
		ended, done := launch(t, p, spec("k", batch.LaunchOnce, on(0, 1)), a)
		a.cutOff(true)
		after(20 * time.Second)
		done[0].finish(exec.Exit{Code: 3}) // reported when the attempt is followed again
		_ = ended.Signal(syscall.SIGTERM)
		after(3 * time.Second)
		a.cutOff(false)
		after(20 * time.Second)
		if diff := cmp.Diff([]string{"0 down", "0 up"}, n.reported()); diff != "" {
			t.Error(diff)
		}
		if exit, over := ending(ended); !over || exit.Code != 3 {
			t.Errorf("%+v, %v", exit, over)
		}
		if _, over := ending(proc); over || a.running() != 1 {
			t.Error("the running attempt ended")
		}
		all[0].finish(exec.Exit{Code: 4})
		if exit := proc.Wait(); exit.Code != 4 {
			t.Errorf("%+v", exit)
		}
	})
}

func TestTasksThatOutliveTheirLeaseAreKilledBeforeTheNodeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		a.immortal = true
		p := open(t, a)
		var n news
		running := -1
		p.Follow(func(node int32, up bool) {
			if up {
				running = a.running()
			}
			n.changed(node, up)
		})
		proc, all := launch(t, p, spec("j", batch.LaunchOnce, on(0, 1)), a)
		a.cutOff(true)
		after(time.Minute)
		if exit, over := ending(proc); !over || !exit.Lost || a.running() != 1 {
			t.Errorf("%+v, %v", exit, over)
		}
		a.cutOff(false)
		after(10 * time.Second)
		if diff := cmp.Diff([]string{"0 down", "0 up"}, n.reported()); diff != "" || running != 0 {
			t.Errorf("%d processes run when the node is up; %s", running, diff)
		}
		if diff := cmp.Diff([]syscall.Signal{syscall.SIGKILL}, all[0].signals()); diff != "" {
			t.Error(diff)
		}
	})
}

// The launch is barred, so it cannot arrive late.
func TestLaunchThatIsNeverAnsweredIsLostAfterTheLeaseAndBarred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		p := open(t, a)
		a.cutOff(true)
		begun := time.Now()
		proc, err := p.Launch(spec("j", batch.LaunchOnce, on(0, 1)))
		if err != nil {
			t.Fatal(err)
		}
		exit := proc.Wait()
		if took := time.Since(begun); !exit.Lost || took != 33*time.Second {
			t.Errorf("%+v after %v", exit, took)
		}
		a.cutOff(false)
		after(10 * time.Second)
		if !a.barred[ID{key("j"), 0}] {
			t.Error("not barred")
		}
	})
}

func TestNothingIsSentToANodeThatHasLeftAndThePolicyKnowsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newHost("a"), newHost("b")
		a.cutOff(true)
		p := open(t, a, b)
		var n news
		p.Follow(n.changed)
		if _, err := p.Launch(spec("j", batch.LaunchPerNode, on(0, 1), on(1, 1))); !errors.Is(err, exec.ErrNodeGone) {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff([]string{"0 down"}, n.reported()); diff != "" || len(b.launched) > 0 {
			t.Error(diff, len(b.launched))
		}
	})
}

// The node's refusal arrives before a renewal fails.
func TestNodeThatRefusesALaunchIsQueriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		p := open(t, a)
		var n news
		p.Follow(n.changed)
		a.refuses[0] = exec.ErrNodeGone
		begun := time.Now()
		if _, err := p.Launch(spec("j", batch.LaunchOnce, on(0, 1))); !errors.Is(err, exec.ErrNodeGone) ||
			time.Since(begun) > 0 {
			t.Errorf("error %v after %v", err, time.Since(begun))
		}
		a.cutOff(true)
		if _, err := p.Launch(spec("k", batch.LaunchOnce, on(0, 1))); err != nil { // the state is not known yet
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff([]string{"0 down"}, n.reported()); diff != "" {
			t.Error(diff)
		}
	})
}

// Otherwise the node would make all jobs of the site fail, one after another.
func TestAnUnfitNodeGetsNoLaunchesAndKeepsItsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		p := open(t, a)
		var n news
		p.Follow(n.changed)
		proc, all := launch(t, p, spec("j", batch.LaunchOnce, on(0, 1)), a)
		unfit := func(is bool) {
			a.mu.Lock()
			a.unfit = is
			a.mu.Unlock()
		}
		unfit(true)
		a.refuses[0] = exec.ErrNeverRan
		begun := time.Now()
		if _, err := p.Launch(spec("k", batch.LaunchOnce, on(0, 1))); !errors.Is(err, exec.ErrNeverRan) ||
			time.Since(begun) > 0 {
			t.Errorf("error %v after %v", err, time.Since(begun))
		}
		if diff := cmp.Diff([]string{"0 down"}, n.reported()); diff != "" {
			t.Error("after the failed launch: " + diff)
		}
		if _, err := p.Launch(spec("l", batch.LaunchOnce, on(0, 1))); !errors.Is(err, exec.ErrNodeGone) {
			t.Errorf("error %v of a launch there", err)
		}
		after(10 * time.Minute)
		if exit, over := ending(proc); over || a.running() != 1 {
			t.Fatalf("what ran has ended: %+v", exit)
		}
		if err := proc.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if diff := cmp.Diff([]syscall.Signal{syscall.SIGTERM}, all[0].signals()); diff != "" {
			t.Error(diff)
		}
		unfit(false)
		after(time.Minute)
		if diff := cmp.Diff([]string{"0 down", "0 up"}, n.reported()); diff != "" {
			t.Error(diff)
		}
		all[0].finish(exec.Exit{Code: 4})
		if exit := proc.Wait(); exit.Code != 4 {
			t.Errorf("%+v", exit)
		}
	})
}

func TestTheLoopNeverWaitsForANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		p := open(t, a)
		proc, all := launch(t, p, spec("j", batch.LaunchOnce, on(0, 1)), a)
		a.cutOff(true)
		begun := time.Now()
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGTERM} {
			if err := proc.Signal(sig); err != nil {
				t.Error(err)
			}
		}
		if err := proc.(exec.Sharer).SetShares([]batch.NodeAllocation{on(0, 1)}); err != nil {
			t.Error(err)
		}
		if time.Since(begun) > 0 {
			t.Error("it took", time.Since(begun))
		}
		after(time.Second)
		a.cutOff(false)
		after(20 * time.Second)
		if diff := cmp.Diff([]syscall.Signal{syscall.SIGCONT, syscall.SIGTERM}, all[0].signals()); diff != "" {
			t.Error(diff) // the first signal times out after 2 s
		}
		all[0].finish(exec.Exit{Signal: syscall.SIGTERM})
		if exit := proc.Wait(); exit.Unsignaled {
			t.Errorf("%+v", exit)
		}
	})
}

func TestJobThatEndedBeforeASignalReportsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		p := open(t, a)
		proc, all := launch(t, p, spec("j", batch.LaunchOnce, on(0, 1)), a)
		a.cutOff(true)
		all[0].finish(exec.Exit{Code: 7})
		_ = proc.Signal(syscall.SIGSTOP)
		_ = proc.Signal(syscall.SIGTERM)
		a.cutOff(false)
		if exit := proc.Wait(); exit != (exec.Exit{Code: 7, Unsignaled: true}) {
			t.Errorf("%+v", exit)
		}
	})
}

// A node can store a signal until its task is reachable.
func TestSignalReachesAJobThroughAnyMember(t *testing.T) {
	for name, c := range map[string]struct {
		first    exec.Exit // of the member that ended before the signal
		received bool      // whether the other member received it
	}{
		"received by one":                          {exec.Exit{}, true},
		"received by none, known to one node":      {exec.Exit{}, false},
		"received by none, reported by both nodes": {exec.Exit{Unsignaled: true}, false},
		"received by one, reported by one node":    {exec.Exit{Unsignaled: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 { // both reports are concurrent
				synctest.Test(t, func(t *testing.T) {
					a, b := newHost("a"), newHost("b")
					p := open(t, a, b)
					proc, all := launch(t, p, spec("j", batch.LaunchPerNode, on(0, 1), on(1, 1)), a, b)
					all[0].keeps = c.first.Unsignaled
					a.cutOff(true)
					all[0].finish(c.first)
					_ = proc.Signal(syscall.SIGTERM)
					if all[0].keeps {
						after(3 * time.Second)
					}
					a.cutOff(false)
					synctest.Wait()
					all[1].finish(exec.Exit{Unsignaled: !c.received})
					if exit := proc.Wait(); exit.Unsignaled == c.received {
						t.Errorf("%+v", exit)
					}
				})
			}
		})
	}
}

func TestSharesOfManyAreSentTogetherAndTheLastOnesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newHost("a"), newHost("b")
		p := open(t, a, b)
		var all []exec.Launched
		for i := range 100 {
			proc, _ := launch(t, p, spec(string(rune('A'+i)), batch.LaunchPerNode, on(0, 1), on(1, 1)), a, b)
			all = append(all, proc)
		}
		set := func(share batch.Share) {
			for _, proc := range all {
				allocation := []batch.NodeAllocation{on(0, 1), on(1, 1)}
				allocation[0].Share, allocation[1].Share = share, share
				if err := proc.(exec.Sharer).SetShares(allocation); err != nil {
					t.Fatal(err)
				}
			}
		}
		set(1)
		set(2)
		after(time.Second)
		for _, h := range []*host{a, b} {
			sent := h.shares()
			if len(sent) != 1 || len(sent[0]) != 100 || sent[0][0].Allocation[0].Share != 2 {
				t.Fatalf("%d messages", len(sent))
			}
		}
		a.cutOff(true)
		set(3)
		after(12 * time.Second)
		set(4)
		after(3 * time.Second)
		a.cutOff(false)
		after(11 * time.Second)
		if sent := a.shares(); len(sent) != 2 || len(sent[1]) != 100 || sent[1][0].Allocation[0].Share != 4 {
			t.Fatalf("%d messages", len(sent))
		}
		if err := all[0].(exec.Sharer).SetShares([]batch.NodeAllocation{on(0, 2)}); err == nil {
			t.Error("the attempt moved to another node")
		}
	})
}

func TestClosedPoolLeavesTasksOnTheirLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		p := open(t, a)
		proc, _ := launch(t, p, spec("j", batch.LaunchOnce, on(0, 1)), a)
		p.Close()
		if exit := proc.Wait(); !exit.Detached || a.running() != 1 {
			t.Errorf("%+v", exit)
		}
		if _, err := p.Launch(spec("k", batch.LaunchOnce, on(0, 1))); err == nil && a.running() != 2 {
			t.Error("launched by a closed pool")
		}
		after(31 * time.Second)
		if a.running() != 0 {
			t.Error("the attempt outlived its lease")
		}
	})
}

func TestAskedReturnsWhenTheStateOfAllNodesIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newHost("a"), newHost("b")
		a.cutOff(true)
		begun := time.Now()
		p := open(t, a, b)
		var n news
		p.Follow(n.changed)
		p.Asked(t.Context())
		if took := time.Since(begun); took > DefaultLease/6 {
			t.Errorf("asked after %v", took)
		}
		if diff := cmp.Diff([]string{"0 down"}, n.reported()); diff != "" {
			t.Error(diff)
		}
	})
}

// The state was queried before the follower existed.
func TestAFollowerLearnsTheKnownStateAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		a.cutOff(true)
		p := open(t, a)
		after(6 * time.Second) // the second query is running
		begin := time.Now()
		var n news
		p.Follow(n.changed)
		p.Asked(t.Context())
		if diff := cmp.Diff([]string{"0 down"}, n.reported()); diff != "" || time.Since(begin) > 0 {
			t.Errorf("after %v: %s", time.Since(begin), diff)
		}
	})
}
