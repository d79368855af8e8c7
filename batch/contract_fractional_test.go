package batch_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// fractional shares each node equally among its jobs. A job whose memory fits on no node
// pauses the first job, by handle, whose memory suffices. A job is paused at most once, and
// after that it pauses no others. An idle node takes a job from a node with several.
type fractional struct {
	toy
	platform batch.Platform
	spared   map[batch.Handle]bool // jobs that were paused once
	stopped  []string              // calls of Stopped
}

func newFractional(p batch.Platform) *fractional {
	return &fractional{toy: toy{jobs: map[batch.Handle]*toyJob{}}, platform: p, spared: map[batch.Handle]bool{}}
}

func (f *fractional) Apply(_ batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Submit:
		f.submit(ev.Spec)
	case batch.Finish:
		f.forget(ev.Job)
	case batch.Stopped:
		f.stopped = append(f.stopped, fmt.Sprintf("#%d %v %t", ev.Job, ev.Progress, ev.Checkpoint))
		if j := f.jobs[ev.Job]; j.state == "pausing" {
			j.state = "waiting"
			f.waiting = append(f.waiting, ev.Job)
		}
	case batch.Resumed:
	default:
		panic(ev.Kind)
	}
}

// room returns the free bytes of a node without one job. Jobs that are being paused still
// hold their memory.
func (f *fractional) room(node int32, without batch.Handle) int64 {
	free := f.platform.Nodes[node].Memory
	for _, h := range f.on(node, "running", "pausing") {
		if h != without {
			free -= f.jobs[h].spec.Memory
		}
	}
	return free
}

// where returns the node with the fewest jobs that has enough memory, or -1.
func (f *fractional) where(memory int64) int32 {
	best := int32(-1)
	for n := range int32(len(f.platform.Nodes)) {
		if f.room(n, batch.NoJob) >= memory && (best < 0 || len(f.on(n, "running")) < len(f.on(best, "running"))) {
			best = n
		}
	}
	return best
}

func (f *fractional) Decide(_ batch.Time, out *batch.Decisions) {
	kinds := map[batch.Handle]batch.DecisionKind{}
	for _, h := range slices.Clone(f.waiting) {
		j := f.jobs[h]
		if n := f.where(j.spec.Memory); n >= 0 {
			kinds[h] = batch.Start
			if f.spared[h] {
				kinds[h] = batch.Resume
			}
			j.node, j.state, j.share = n, "running", 0
			f.leave(h)
		} else if !f.spared[h] {
			f.makeRoom(j.spec.Memory, out)
		}
	}
	f.balance(kinds)
	var all []batch.Handle
	for n := range int32(len(f.platform.Nodes)) {
		all = append(all, f.on(n, "running")...)
	}
	slices.Sort(all)
	for _, h := range all {
		j := f.jobs[h]
		share := batch.One / batch.Share(len(f.on(j.node, "running")))
		if j.spec.CPU > 0 {
			share = min(share, j.spec.CPU)
		}
		if kinds[h] == 0 && share == j.share {
			continue
		}
		if kinds[h] == 0 {
			kinds[h] = batch.SetShare
		}
		j.share = share
		out.Add(kinds[h], h, batch.NodeAllocation{Node: j.node, Processors: 1, Share: share})
	}
}

func (f *fractional) makeRoom(memory int64, out *batch.Decisions) {
	for n := range int32(len(f.platform.Nodes)) {
		if len(f.on(n, "pausing")) > 0 {
			return
		}
		for _, h := range f.on(n, "running") {
			if !f.spared[h] && f.room(n, h) >= memory {
				f.spared[h] = true
				f.jobs[h].state = "pausing"
				out.Add(batch.Pause, h)
				return
			}
		}
	}
}

func (f *fractional) balance(kinds map[batch.Handle]batch.DecisionKind) {
	for idle := range int32(len(f.platform.Nodes)) {
		for busy := range int32(len(f.platform.Nodes)) {
			jobs := f.on(busy, "running")
			if len(f.on(idle, "running", "pausing")) == 0 && len(jobs) > 1 {
				last := jobs[len(jobs)-1]
				f.jobs[last].node = idle
				if kinds[last] == 0 {
					kinds[last] = batch.Migrate
				}
			}
		}
	}
}

func (f *fractional) Wake() batch.Time { return batch.Never }

func (f *fractional) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return nil }

func (f *fractional) Fork() batch.Policy {
	c := newFractional(f.platform)
	c.toy = f.fork()
	for h := range f.spared {
		c.spared[h] = true
	}
	return c
}

func job(h batch.Handle, memory int64) batch.Job {
	return batch.Job{Handle: h, Shape: batch.Shape{Width: 1, Walltime: batch.Minute}, Memory: memory, Checkpoint: true}
}

// By hand:
//
//	0   1 on n0, 2 on n1, 3 on n0: 1 and 3 get half of n0 each
//	4   2 ends. 1 has done 2 of 10, 3 has done 2 of 6; 3 moves to n1, both alone
//	5   4 needs 8 bytes; 6 are free on n0, 2 on n1. 1 has done 3 and is paused; 4
//	    starts on n0, and 1 fits on no node
//	8   3 (4 s since 4) and 4 (3 s since 5) end; 1 resumes with 7 s left: ends at 15
func TestFractionalPolicyPausesMovesAndShares(t *testing.T) {
	platform := batch.Platform{Nodes: []batch.Node{{Processors: 1, Memory: 10}, {Processors: 1, Memory: 8}}}
	f := newFractional(platform)
	perform(t, f, platform, []act{
		submit(0, job(1, 4), 10), submit(0, job(2, 4), 4), submit(0, job(3, 6), 6), submit(5, job(4, 8), 3),
	}, "#2 n1 0-4", "#3 n0 0-8", "#4 n0 5-8", "#1 n0 0-15")
	if diff := cmp.Diff([]string{"#3 2s true", "#1 3s true"}, f.stopped); diff != "" {
		t.Errorf("Stopped (-want +got):\n%s", diff)
	}
}

// A third of a processor is 349525 of 2^20. A second of work takes
// 2^20/349525 s = 3.0000028... s, rounded up to the microsecond.
func TestFractionalCompletionIsRoundedUp(t *testing.T) {
	platform := batch.Processors(1)
	perform(t, newFractional(platform), platform, []act{
		submit(0, job(1, 0), 1), submit(0, job(2, 0), 1), submit(0, job(3, 0), 1),
	}, "#1 n0 0-3.000003", "#2 n0 0-3.000003", "#3 n0 0-3.000003")
}

// Job 2 can use a quarter of a processor and gets it: its yield is 1. Job 1 gets an equal
// share of one half, and the whole processor from 1 on.
func TestFractionalYieldIsShareOverNeed(t *testing.T) {
	platform := batch.Processors(1)
	small := job(2, 0)
	small.CPU = batch.One / 4
	perform(t, newFractional(platform), platform, []act{submit(0, job(1, 0), 1), submit(0, small, 1)},
		"#2 n0 0-1", "#1 n0 0-1.5")
}

// The first task gets all that it can use, the second half of that.
func TestAJobIsAsFastAsItsSlowestTask(t *testing.T) {
	platform := batch.Processors(2)
	apart := &reckless{func(_ batch.Time, out *batch.Decisions) {
		out.Add(batch.Start, 1, batch.NodeAllocation{Node: 0, Processors: 1, Share: batch.One},
			batch.NodeAllocation{Node: 1, Processors: 1, Group: 1, Share: batch.One / 4})
	}}
	groups := job(1, 0)
	groups.Groups = []batch.TaskGroup{{Tasks: 1, CPU: batch.One}, {Tasks: 1, CPU: batch.One / 2}}
	perform(t, apart, platform, []act{submit(0, groups, 1)}, "#1 n0 n1 0-2")
}

func TestAJobCanBeKilledWhilePaused(t *testing.T) {
	platform := batch.Processors(1)
	passes := 0
	p := &reckless{}
	p.pass = func(_ batch.Time, out *batch.Decisions) {
		out.Add(batch.Start, 1, batch.NodeAllocation{Processors: 1, Share: batch.One})
	}
	perform(t, p, platform, []act{
		submit(0, job(1, 0), 9),
		{2, func(*engine.Engine) {
			p.pass = func(_ batch.Time, out *batch.Decisions) { out.Add(batch.Pause, 1); passes++ }
		}},
		{5, func(*engine.Engine) {
			p.pass = func(_ batch.Time, out *batch.Decisions) { out.Add(batch.Kill, 1); passes++ }
		}},
	}, "#1 n0 0-5 killed")
	if passes != 2 {
		t.Errorf("%d of 2 passes", passes)
	}
}
