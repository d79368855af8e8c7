package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

func setNode(t testing.TB, s *System, node int32, up bool) {
	t.Helper()
	if err := s.SetNode(context.Background(), node, up); err != nil {
		t.Fatal(err)
	}
}

func TestNoJobStartsOnANodeThatHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakes()
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: l, Grace: 1})
		do(t, s, submission("a", 1, batch.Program{Args: []string{"x"}}))
		on1 := <-l.launched
		setNode(t, s, 0, false)
		setNode(t, s, 0, false)
		if free := snapshot(t, s).Free; free != 2 {
			t.Errorf("%d processors free, want the other node's", free)
		}
		do(t, s, submission("b", 2, batch.Program{Args: []string{"x"}}))
		if got := (<-l.launched).spec.Allocation; got[0].Node != 1 {
			t.Errorf("started at %v", got)
		}
		// A job that ran there holds its allocation until it is known to have ended.
		on1.end <- Exit{Lost: true, Reason: "its node has left"}
		if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndLost ||
			f.Outcome.Reason != "its node has left" {
			t.Errorf("%+v", f.Outcome)
		}
		if free := snapshot(t, s).Free; free != 0 {
			t.Errorf("%d processors free", free)
		}
		setNode(t, s, 0, true)
		if free := snapshot(t, s).Free; free != 2 {
			t.Errorf("%d processors free when the node is back", free)
		}
		wantTold(t, s, p, "submit a, node-down 0, submit b, finish a, node-up 0")
	})
}

func TestDecisionAboutANodeThatHasLeftFaultsTheSystem(t *testing.T) {
	for name, d := range map[string]batch.Decision{
		"start":   {Kind: batch.Start, Job: 2, Allocation: on(1, batch.One)},
		"migrate": {Kind: batch.Migrate, Job: 1, Allocation: on(1, batch.One)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, Config{Policy: newToy(4, line{batch.Second, d}), Launcher: newFakes(), Grace: 1})
				do(t, s, minute(), submission("wide", 4, batch.Program{Args: []string{"x"}}))
				setNode(t, s, 1, false)
				after(2 * time.Second)
				if err := s.Err(); !errors.Is(err, ErrNoCapacity) {
					t.Errorf("error %v", err)
				}
				if free := snapshot(t, s).Free; free != 1 {
					t.Errorf("%d processors free", free)
				}
			})
		})
	}
}

func TestUnknownNodeIsRefused(t *testing.T) {
	s := open(t, Config{Launcher: newFakes()})
	for _, n := range []int32{-1, 2} {
		if err := s.SetNode(context.Background(), n, true); err == nil ||
			!strings.Contains(err.Error(), "accepted: 0..1") {
			t.Errorf("node %d: %v", n, err)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.SetNode(context.Background(), 0, false); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// gone fails a given number of launches with ErrNodeGone.
type gone struct {
	fakes
	left *atomic.Int32
}

func (l gone) Launch(spec Spec) (Launched, error) {
	if l.left.Add(-1) >= 0 {
		return nil, fmt.Errorf("node n1: %w", ErrNodeGone)
	}
	return l.fakes.Launch(spec)
}

func TestJobWaitsAgainWhenItsNodeLeavesBeforeTheLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := gone{newFakes(), new(atomic.Int32)}
		l.left.Store(2)
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, minute())
		proc := <-l.launched
		after(59 * time.Second)
		if f := find(t, s, "a"); f.Phase != batch.PhaseRunning || len(proc.signals()) > 0 {
			t.Errorf("%+v, %v", f, proc.signals())
		}
		proc.end <- Exit{}
		await(t, s, "a", batch.PhaseEnded)
		if snapshot(t, s).Free != 4 {
			t.Error(snapshot(t, s))
		}
		wantTold(t, s, p, "submit a, start-failed a, start-failed a, finish a")
	})
}

func TestCheckpointedJobContinuesAfterItsNodeLeftBeforeTheLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := gone{newFakes(), new(atomic.Int32)}
		resume := batch.Decision{Kind: batch.Resume, Job: 1}
		p := newToy(4, line{10 * batch.Second, batch.Decision{Kind: batch.Pause, Job: 1}},
			line{20 * batch.Second, resume}, line{30 * batch.Second, resume})
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, saving(usr1))
		proc := <-l.launched
		after(11 * time.Second)
		proc.end <- Exit{Code: batch.CheckpointStatus}
		await(t, s, "a", batch.PhaseEnded)
		l.left.Store(1)
		do(t, s, next(2, 49*batch.Second))
		after(10 * time.Second)
		if snapshot(t, s).Free != 4 {
			t.Error(snapshot(t, s))
		}
		if again := <-l.launched; again.spec.Key.Attempt != 2 {
			t.Errorf("%+v", again.spec)
		}
		synctest.Wait()
		received := p.received()
		if strings.Count(received, "stopped a 1") != 2 || !strings.HasSuffix(received, ", resumed a") ||
			s.Err() != nil {
			t.Errorf("received %q, %v", received, s.Err())
		}
	})
}

func TestCancelOvertakesTheLaunchOnANodeThatHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := slowGone{make(chan struct{})}
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: l})
		do(t, s, minute())
		synctest.Wait()
		do(t, s, order(batch.CmdCancel, "a"))
		close(l.now)
		if f := await(t, s, "a", batch.PhaseEnded); f.Outcome.End != batch.EndNeverRan &&
			f.Outcome.End != batch.EndCancelled {
			t.Errorf("%+v", f.Outcome)
		}
		wantTold(t, s, p, "submit a, finish a")
	})
}

type slowGone struct{ now chan struct{} }

func (l slowGone) Launch(Spec) (Launched, error) {
	<-l.now
	return nil, ErrNodeGone
}

// measurements forwards the measurements of a test.
type measurements chan []Measurement

func (m measurements) Next(ctx context.Context) ([]Measurement, error) {
	select {
	case all, ok := <-m:
		if !ok {
			return nil, errors.New("nothing is measured any more")
		}
		return all, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestMeasuredNeedsReachThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := newFakes(), make(measurements)
		p := newToy(4)
		s := open(t, Config{Policy: p, Launcher: l, Measurements: m})
		do(t, s, minute())
		proc := <-l.launched
		synctest.Wait()
		m <- []Measurement{
			{Key: key("a"), CPU: 7, Memory: 1000},
			{Key: key("unknown"), CPU: 7},
			{Key: key("a"), CPU: 0},
			{Key: key("a"), CPU: batch.One + 1},
			{Key: key("a"), CPU: 1, Memory: -1},
			{Key: key("a"), CPU: 1, Group: 1},
			{Key: key("a"), CPU: 1, Group: -1},
			{Key: key("a"), CPU: batch.One},
		}
		synctest.Wait()
		proc.end <- Exit{}
		await(t, s, "a", batch.PhaseEnded)
		m <- []Measurement{{Key: key("a"), CPU: 8}}
		synctest.Wait()
		close(m)
		wantTold(t, s, p, "submit a, measured a group 0: 7, 1000 bytes, measured a group 0: 1048576, 0 bytes, finish a")
	})
}

// twoHosts have processors for four of the following jobs each, and memory for one.
var twoHosts = batch.Platform{Nodes: []batch.Node{
	{Name: "x", Processors: 4, Memory: 400}, {Name: "y", Processors: 4, Memory: 400},
}}

func TestJobsHoldTheirMemoryUntilTheyHaveEnded(t *testing.T) {
	l := newFakes()
	platform := twoHosts
	s := open(t, Config{Policy: newToy(8), Launcher: l, Platform: platform})
	large := func(id string) *fake {
		cmd := submission(id, 1, batch.Program{Args: []string{"x"}})
		cmd.Job.Memory = 300
		do(t, s, cmd)
		return <-l.launched
	}
	node := func(f *fake) int32 { return f.spec.Allocation[0].Node }
	a, b := large("a"), large("b")
	if node(a) != 0 || node(b) != 1 {
		t.Errorf("on nodes %d and %d", node(a), node(b))
	}
	b.end <- Exit{}
	await(t, s, "b", batch.PhaseEnded)
	c := large("c")
	if node(c) != 1 {
		t.Errorf("the next one is on node %d", node(c))
	}
	// A job that the policy starts anyway goes to the lowest-numbered processors.
	d := large("d")
	if node(d) != 0 {
		t.Errorf("one too many is on node %d", node(d))
	}
	for _, f := range []*fake{a, c, d} {
		f.end <- Exit{}
	}
}

func TestTheMemoryOfAdoptedJobsIsCounted(t *testing.T) {
	l := newFakes()
	a, proc := found("a", 1, batch.Minute, time.Now())
	a.Job.Memory = 300
	s := open(t, Config{Policy: newToy(8), Launcher: l, Platform: twoHosts, Adopt: []Adopted{a}})
	cmd := submission("b", 1, batch.Program{Args: []string{"x"}})
	cmd.Job.Memory = 300
	do(t, s, cmd)
	b := <-l.launched
	if at := b.spec.Allocation[0].Node; at != 1 {
		t.Errorf("on node %d, beside one that needs most of it", at)
	}
	b.end <- Exit{}
	proc.end <- Exit{}
}
