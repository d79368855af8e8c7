package dfrs_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// shares executes a pass one decision after the other, and fails if a decision takes more of a
// node than the previous ones have left. It holds the allocation of each job.
type shares map[batch.Handle][]batch.NodeAllocation

func (s shares) pass(t *testing.T, d driven, now batch.Time) {
	t.Helper()
	var out batch.Decisions
	d.p.Decide(now, &out)
	for i := range out.List {
		s[out.List[i].Job] = out.List[i].Allocation
		taken := map[int32]int64{}
		for _, places := range s {
			for _, l := range places {
				if taken[l.Node] += int64(l.Processors) * int64(l.Share); taken[l.Node] > int64(batch.One) {
					t.Errorf("%v of job %d: %v", out.List[i].Kind, out.List[i].Job, s)
				}
			}
		}
	}
}

// Job 2 has waited for 99 s without CPU; job 1 has had all it could use: its yield becomes 0
// and its share the minimum, although it stays on its node.
func TestAStayingJobWithYieldZeroGetsANewShare(t *testing.T) {
	const adopted, back = 99 * second, 100 * second
	first, waits := one(1, 0, 1, 1, 200), one(2, 1, 1, 1, 200)
	for name, come := range map[string]func(driven){
		"on a returning node": func(d driven) {
			d.submit(0, first)
			d.pass(0, "0 start #1 0:1@100%")
			d.submit(second, waits)
			d.apply(adopted, batch.Event{Kind: batch.NodeDown})
		},
		"adopted": func(d driven) {
			d.submit(second, waits)
			d.apply(adopted, batch.Event{Kind: batch.NodeDown})
			d.apply(adopted, batch.Event{
				Kind: batch.Adopt, Job: 1, Spec: &first.spec,
				Allocation: []batch.NodeAllocation{{Processors: 1, Share: batch.One}},
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := driven{t, policy(t, cluster(1, 10), batch.Settings{
				"algorithm": "/stretch-per/opt=max", "period": "50s",
			})}
			come(d)
			d.apply(back, batch.Event{Kind: batch.NodeUp})
			has := shares{1: {{Processors: 1, Share: batch.One}}}
			has.pass(t, d, back)
			if has[1][0].Share != 1 || has[2][0].Share != batch.One-1 {
				t.Errorf("%v", has)
			}
			d.apply(back+1, batch.Event{Kind: batch.NodeDown})
			d.apply(back+2, batch.Event{Kind: batch.NodeUp})
			has.pass(t, d, back+2)
			if has[1][0].Share != 1 || has[2][0].Share != batch.One-1 {
				t.Errorf("the node was away again: %v", has)
			}
		})
	}
}

// Job 1 has two thirds on node 0 and a third on node 1; now it needs a whole processor there,
// too, and gets half of each. Job 2, on node 1, must shrink before 1 grows, and 3, on node 0,
// can grow only after 1 has shrunk.
func TestSharesShrinkBeforeOthersGrow(t *testing.T) {
	d := newDriven(t, 2, "Greedy*/opt=min")
	first, third := one(1, 0, 1, 0, 9), one(3, 0, 2, 0, 9)
	first.spec.Groups = []batch.TaskGroup{{Tasks: 1, CPU: batch.One}, {Tasks: 1, CPU: batch.One / 2}}
	third.spec.CPU = batch.One / 4
	d.submit(0, first)
	d.submit(0, one(2, 0, 1, 0, 9))
	d.submit(0, third)
	d.pass(0, "0 start #1 0:1@67% 1:1@33%", "0 start #2 1:1@67%", "0 start #3 0:2@17%")
	d.apply(second, batch.Event{Kind: batch.Measured, Job: 1, Group: 1, CPU: batch.One})
	d.pass(second, "1 share #2 1:1@50%", "1 share #1 0:1@50% 1:1@33%", "1 share #3 0:2@25%",
		"1 share #1 0:1@50% 1:1@50%")
}
