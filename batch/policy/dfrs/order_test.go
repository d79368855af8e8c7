package dfrs_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// shares carries a pass out, one decision after the other, and has none of them take more
// of a node than those before have left. It returns what each job has of its nodes.
type shares map[batch.Handle][]batch.NodeAllocation

func (s shares) pass(t *testing.T, d told, now batch.Time) {
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

// 2 has waited for 99 s and had nothing; 1 has had all it could use: its yield becomes 0,
// and its share the least there is, be it new where it has been all the time.
func TestWhoHasBeenThereAndIsToHaveNothingIsToldSo(t *testing.T) {
	const adopted, back = 99 * second, 100 * second
	first, waits := one(1, 0, 1, 1, 200), one(2, 1, 1, 1, 200)
	for name, come := range map[string]func(told){
		"it was on a node that comes back": func(d told) {
			d.submit(0, first)
			d.pass(0, "0 start #1 0:1@100%")
			d.submit(second, waits)
			d.tell(adopted, batch.Event{Kind: batch.NodeDown})
		},
		"it was adopted": func(d told) {
			d.submit(second, waits)
			d.tell(adopted, batch.Event{Kind: batch.NodeDown})
			d.tell(adopted, batch.Event{Kind: batch.Adopt, Job: 1, Spec: &first.spec, Allocation: []batch.NodeAllocation{{Processors: 1, Share: batch.One}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := told{t, policy(t, cluster(1, 10), batch.Settings{"algorithm": "/stretch-per/opt=max", "period": "50s"})}
			come(d)
			d.tell(back, batch.Event{Kind: batch.NodeUp})
			has := shares{1: {{Processors: 1, Share: batch.One}}}
			has.pass(t, d, back)
			if has[1][0].Share != 1 || has[2][0].Share != batch.One-1 {
				t.Errorf("%v", has)
			}
			d.tell(back+1, batch.Event{Kind: batch.NodeDown})
			d.tell(back+2, batch.Event{Kind: batch.NodeUp})
			has.pass(t, d, back+2)
			if has[1][0].Share != 1 || has[2][0].Share != batch.One-1 {
				t.Errorf("the node was away again: %v", has)
			}
		})
	}
}

// 1 has two thirds on node 0 and a third on node 1; now it needs a whole one there, too,
// and has a half of each. 2, on node 1, gets less before 1 gets more, and 3, on node 0,
// gets more after 1 has less.
func TestWhoHasLessHereAndMoreThereGivesFirst(t *testing.T) {
	d := newTold(t, 2, "Greedy*/opt=min")
	first, third := one(1, 0, 1, 0, 9), one(3, 0, 2, 0, 9)
	first.spec.Groups = []batch.TaskGroup{{Tasks: 1, CPU: batch.One}, {Tasks: 1, CPU: batch.One / 2}}
	third.spec.CPU = batch.One / 4
	d.submit(0, first)
	d.submit(0, one(2, 0, 1, 0, 9))
	d.submit(0, third)
	d.pass(0, "0 start #1 0:1@67% 1:1@33%", "0 start #2 1:1@67%", "0 start #3 0:2@17%")
	d.tell(second, batch.Event{Kind: batch.Measured, Job: 1, Group: 1, CPU: batch.One})
	d.pass(second, "1 share #2 1:1@50%", "1 share #1 0:1@50% 1:1@33%", "1 share #3 0:2@25%", "1 share #1 0:1@50% 1:1@50%")
}
