package pool

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

func TestRecoverReturnsTheStateOfAnAttempt(t *testing.T) {
	type members [2]*exec.Exit // nil: it runs; neverRan: it was never launched
	neverRan := &exec.Exit{Detached: true}
	ok, bad := &exec.Exit{}, &exec.Exit{Code: 3}
	for name, c := range map[string]struct {
		is   members
		want attempt.Condition
		exit *exec.Exit // of the process, if there is one
	}{
		"nothing ran":           {members{neverRan, neverRan}, attempt.Barred, nil},
		"all run":               {members{nil, nil}, attempt.Running, &exec.Exit{}},
		"all are done":          {members{ok, ok}, attempt.Exited, nil},
		"one has failed":        {members{ok, bad}, attempt.Exited, nil},
		"one runs, one is done": {members{nil, ok}, attempt.Running, &exec.Exit{}},
		"one runs, one has failed": {
			members{nil, bad}, attempt.Running, &exec.Exit{Code: 3, Reason: "process 2 of 2 on node b"},
		},
		"one runs, one never ran": {
			members{nil, neverRan}, attempt.Running, &exec.Exit{Lost: true, Reason: "process 2 of 2 was never started"},
		},
		"one is done, one never was": {
			members{ok, neverRan}, attempt.Lost, nil,
		},
	} {
		for _, away := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", out of reach at first"}[away], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a, b := newHost("a"), newHost("b")
					hosts := []*host{a, b}
					allocation := []batch.NodeAllocation{on(0, 1), on(1, 1)}
					for rank, exit := range c.is {
						h := hosts[rank]
						_ = h.Renew(context.Background(), time.Hour) // by the earlier process
						if exit == neverRan {
							continue
						}
						proc, err := h.Launch(context.Background(), TaskSpec{ID: ID{key("j"), int32(rank)}})
						if err != nil {
							t.Fatal(err)
						}
						if exit != nil {
							finish(proc, *exit)
						}
						h.cut = away
					}
					p := open(t, a, b)
					got, proc, err := p.Recover(t.Context(), key("j"), batch.LaunchPerNode, allocation)
					if err != nil {
						t.Fatal(err)
					}
					if away && c.is != (members{neverRan, neverRan}) {
						if got.Condition != attempt.Running || proc == nil {
							t.Fatalf("%+v before anybody could know", got)
						}
						a.cutOff(false)
						b.cutOff(false)
						after(10 * time.Second)
					} else if got.Condition != c.want || (proc != nil) != (c.want == attempt.Running) ||
						c.is[1] == bad && c.is[0] == ok && got.Code != 3 {
						t.Fatalf("%+v, %v", got, proc)
					}
					for rank, h := range hosts {
						if won := c.is[rank] == neverRan; h.barred[ID{key("j"), int32(rank)}] != won {
							t.Errorf("barred at %s: %v", h.name, !won)
						}
					}
					if proc == nil {
						return
					}
					for rank, exit := range c.is {
						if exit == nil {
							hosts[rank].procs[ID{key("j"), int32(rank)}].finish(exec.Exit{})
						}
					}
					after(time.Second)
					if exit, over := ending(proc); !over || c.exit != nil && exit != *c.exit {
						t.Errorf("%+v, %v", exit, over)
					}
				})
			})
		}
	}
}

// The time of the earlier process's last renewal is unknown.
func TestAnUnrecoverableAttemptIsLostAfterALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		a.cutOff(true)
		begun := time.Now()
		p := open(t, a)
		st, proc, err := p.Recover(t.Context(), key("j"), batch.LaunchOnce, []batch.NodeAllocation{on(0, 1)})
		if err != nil || st.Condition != attempt.Running {
			t.Fatalf("%+v, %v", st, err)
		}
		if exit := proc.Wait(); !exit.Lost || time.Since(begun) != 33*time.Second {
			t.Errorf("%+v after %v", exit, time.Since(begun))
		}
	})
}

// A server can take long before it recovers an attempt.
func TestMembersRecoveredAfterTheLeaseAreLostAndBarredLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newHost("a")
		a.cutOff(true)
		p := open(t, a)
		var n news
		p.Follow(n.changed)
		after(time.Minute)
		st, proc, err := p.Recover(t.Context(), key("j"), batch.LaunchOnce, []batch.NodeAllocation{on(0, 1)})
		if err != nil || st.Condition != attempt.Running {
			t.Fatalf("%+v, %v", st, err)
		}
		after(6 * time.Second) // the timeout of an answer
		if exit, over := ending(proc); !over || !exit.Lost {
			t.Errorf("%+v, %v", exit, over)
		}
		a.cutOff(false)
		after(10 * time.Second)
		if !a.barred[ID{Key: key("j")}] {
			t.Error("it is not barred")
		}
		if diff := cmp.Diff([]string{"0 down", "0 up"}, n.reported()); diff != "" {
			t.Error(diff)
		}
	})
}
