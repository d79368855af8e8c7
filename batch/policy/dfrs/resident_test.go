package dfrs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// stays is like one, for a job that keeps its memory.
func stays(h batch.Handle, at, tasks int, memory int64, work int) arrival {
	a := one(h, at, tasks, memory, work)
	a.spec.Resident = true
	return a
}

// Job 3 needs memory. Job 1 has the lowest priority, but keeps its memory when paused, so that
// only pausing 2 helps.
func TestResidentJobsAreNotPausedForOthers(t *testing.T) {
	for _, name := range []string{"GreedyP*", "GreedyPM*", "MCB8*"} {
		wantDecided(t, `
0 start #1 0:1@50%
0 start #2 0:1@50%
2 pause #2
2 start #3 0:1@50%
4 end #3
4 resume #2 0:1@50%
10 end #1
10 share #2 0:1@100%
11 end #2`, decided(t, cluster(1, 10), batch.Settings{"algorithm": name, "period": "100s"},
			stays(1, 0, 1, 5, 5), one(2, 0, 1, 5, 5), one(3, 2, 1, 5, 1)))
	}
}

// Job 3 must wait for 1; job 4, which comes later, does not wait for 3. A third is rounded
// down.
func TestAJobThatCannotFitBesideResidentJobsBlocksNoOthers(t *testing.T) {
	wantDecided(t, `
0 start #1 0:1@50%
0 start #2 0:1@50%
1 share #1 0:1@33%
1 share #2 0:1@33%
1 start #4 0:1@33%
4.000003 end #4
4.000003 share #1 0:1@50%
4.000003 share #2 0:1@50%
7.000003 end #1
7.000003 start #3 0:1@50%
9.000003 end #2
9.000003 share #3 0:1@100%
10.000003 end #3`, decided(t, cluster(1, 10), batch.Settings{"algorithm": "MCB8*"},
		stays(1, 0, 1, 5, 3), one(2, 0, 1, 2, 4), one(3, 1, 1, 8, 2), one(4, 1, 1, 3, 1)))
}

// driven is a policy that gets events one by one.
type driven struct {
	t *testing.T
	p *dfrs.Policy
}

func (d driven) pass(now batch.Time, want ...string) {
	d.t.Helper()
	var out batch.Decisions
	o := newObserved()
	o.log = true
	d.p.Decide(now, &out)
	for i := range out.List {
		o.Decided(now, &batch.Job{Handle: out.List[i].Job}, &out.List[i])
	}
	if diff := cmp.Diff(want, o.decided); diff != "" {
		d.t.Errorf("(-want +got):\n%s", diff)
	}
	if err := d.p.Books(); err != nil {
		d.t.Error(err)
	}
}

func (d driven) apply(now batch.Time, ev batch.Event) { d.p.Apply(now, &ev) }

func (d driven) submit(now batch.Time, a arrival) {
	d.apply(now, batch.Event{Kind: batch.Submit, Job: a.spec.Handle, Spec: &a.spec})
}

func newDriven(t *testing.T, nodes int, algorithm string) driven {
	return driven{t, policy(t, cluster(nodes, 10), batch.Settings{"algorithm": algorithm})}
}

// The driver removes job 1 from node 0. Job 2 must move, and 1 continues on its node.
func TestAResidentJobResumesOnItsNode(t *testing.T) {
	d := newDriven(t, 2, "Greedy*")
	d.submit(0, stays(1, 0, 1, 6, 9))
	d.pass(0, "0 start #1 0:1@100%")
	d.apply(second, batch.Event{Kind: batch.NodeDown, Node: 0})
	d.apply(second, batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
	d.submit(second, one(2, 1, 1, 6, 9))
	d.pass(second, "1 start #2 1:1@100%")
	d.apply(2*second, batch.Event{Kind: batch.NodeUp, Node: 0})
	d.pass(2*second, "2 resume #1 0:1@100%")
}

// Any loss of a job's memory frees it for others; a job that restarts waits behind them.
func TestMemoryOfAResidentJobIsFreeAfterItsEndOrRestart(t *testing.T) {
	for name, ev := range map[string]batch.Event{
		"lost": {Kind: batch.Stopped, Job: 1}, "cancelled": {Kind: batch.Cancel, Job: 1},
		"ended": {Kind: batch.Finish, Job: 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriven(t, 1, "Greedy*")
			d.submit(0, stays(1, 0, 1, 6, 9))
			d.pass(0, "0 start #1 0:1@100%")
			d.apply(second, batch.Event{Kind: batch.NodeDown, Node: 0})
			d.apply(second, batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
			d.submit(second, one(2, 1, 1, 6, 9))
			d.pass(second)
			d.apply(2*second, ev)
			d.apply(2*second, batch.Event{Kind: batch.NodeUp, Node: 0})
			d.pass(2*second, "2 start #2 0:1@100%")
		})
	}
}

func TestAFailedStartFreesItsMemory(t *testing.T) {
	d := newDriven(t, 2, "Greedy*")
	d.submit(0, stays(1, 0, 1, 6, 9))
	d.pass(0, "0 start #1 0:1@100%")
	d.apply(0, batch.Event{Kind: batch.StartFailed, Job: 1})
	d.apply(0, batch.Event{Kind: batch.NodeDown, Node: 0})
	d.pass(0, "0 start #1 1:1@100%")
}

// The driver does not report job 1 while its node is away: it keeps running there. When the node
// returns, job 2 shares it with 1.
func TestJobsOnAReturningNodeContinue(t *testing.T) {
	for _, spec := range []arrival{stays(1, 0, 1, 6, 9), one(1, 0, 1, 6, 9)} {
		d := newDriven(t, 1, "Greedy*")
		d.submit(0, spec)
		d.pass(0, "0 start #1 0:1@100%")
		d.apply(second, batch.Event{Kind: batch.NodeDown, Node: 0})
		d.submit(second, one(2, 1, 1, 4, 9))
		d.pass(second)
		d.apply(2*second, batch.Event{Kind: batch.NodeUp, Node: 0})
		d.pass(2*second, "2 share #1 0:1@50%", "2 start #2 0:1@50%")
	}
}

// Job 1 is on both nodes. While node 0 is away 2 is assigned node 1, and 1 must leave it.
func TestAJobOnAReturningNodeLeavesReassignedNodes(t *testing.T) {
	d := newDriven(t, 2, "Greedy*")
	d.submit(0, one(1, 0, 2, 6, 9))
	d.pass(0, "0 start #1 0:1@100% 1:1@100%")
	d.apply(second, batch.Event{Kind: batch.NodeDown, Node: 0})
	d.submit(second, one(2, 1, 1, 6, 9))
	d.pass(second)
	d.apply(2*second, batch.Event{Kind: batch.NodeUp, Node: 0})
	d.pass(2*second, "2 pause #1")
	d.apply(2*second, batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
	d.pass(2*second, "2 start #2 1:1@100%")
}

// While node 0 is away 1 is assigned node 1, but keeps running on node 0; node 1 is then free
// for 3.
func TestAJobOnAReturningNodeGivesUpItsNewNode(t *testing.T) {
	d := newDriven(t, 2, "Greedy*")
	d.submit(0, one(1, 0, 1, 6, 9))
	d.submit(0, one(2, 0, 1, 6, 9))
	d.pass(0, "0 start #1 0:1@100%", "0 start #2 1:1@100%")
	d.apply(second, batch.Event{Kind: batch.NodeDown, Node: 0})
	d.apply(second, batch.Event{Kind: batch.Finish, Job: 2})
	d.pass(second)
	d.apply(2*second, batch.Event{Kind: batch.NodeUp, Node: 0})
	d.submit(2*second, one(3, 2, 1, 6, 9))
	d.pass(2*second, "2 start #3 1:1@100%")
}

// Job 3 has node 1 when node 0 comes back, and 1, which was on both, must move: it is mapped at
// once, although this algorithm does not map jobs when others have left.
func TestAJobDisplacedFromAReturningNodeIsMappedAtOnce(t *testing.T) {
	d := newDriven(t, 3, "Greedy/per")
	d.submit(0, one(1, 0, 2, 6, 9))
	d.submit(0, one(2, 0, 1, 6, 9))
	d.pass(0, "0 start #1 0:1@100% 1:1@100%", "0 start #2 2:1@100%")
	d.apply(second, batch.Event{Kind: batch.NodeDown, Node: 0})
	d.submit(second, one(3, 1, 1, 6, 9))
	d.pass(second)
	d.apply(2*second, batch.Event{Kind: batch.Finish, Job: 2})
	d.apply(2*second, batch.Event{Kind: batch.NodeUp, Node: 0})
	d.pass(2*second, "2 migrate #1 0:1@100% 2:1@100%")
	d.apply(2*second, batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
	d.pass(2*second, "2 start #3 1:1@100%")
}

// MCB8 gives each task at least a hundredth of a processor: too much for 2 beside 1, but not
// alone.
func TestAJobFitsAfterTheResidentJobsHaveLeft(t *testing.T) {
	wantDecided(t, `
0 start #1 0:64@2%
64 end #1
64 start #2 0:64@2%
128 end #2`, decided(t, cluster(1, 10), batch.Settings{"algorithm": "MCB8*"}, stays(1, 0, 64, 0, 1), one(2, 1, 64, 0, 1)))
}

// With 101 tasks per processor the job never fits; the policy does not retry.
func TestNoPassIsScheduledForJobsThatMCB8CanNeverPlace(t *testing.T) {
	d := newDriven(t, 1, "MCB8*/per")
	d.submit(0, one(1, 0, 101, 0, 1))
	d.pass(0)
	if wake := d.p.Wake(); wake != batch.Never {
		t.Errorf("a pass is wanted at %d", wake)
	}
	d.submit(second, one(2, 1, 1, 0, 1))
	d.pass(second, "1 start #2 0:1@100%")
}

// Job 1 is paused on a node that is down: the forecast assumes that it is lost and restarts.
func TestAForecastAssumesLossOfMemoryOnANodeThatIsDown(t *testing.T) {
	d := newDriven(t, 2, "Greedy*")
	first := stays(1, 0, 1, 6, 9)
	first.spec.Shape.Walltime = 10 * batch.Second
	d.submit(0, first)
	d.pass(0, "0 start #1 0:1@100%")
	d.apply(second, batch.Event{Kind: batch.NodeDown, Node: 0})
	d.apply(second, batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true})
	d.pass(second)
	if got, want := asked(t, second, d.p, &first.spec), [2]batch.Time{1, 11}; got != want {
		t.Errorf("from %d to %d, want from %d to %d", got[0], got[1], want[0], want[1])
	}
}
