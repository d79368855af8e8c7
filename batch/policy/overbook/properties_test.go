package overbook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
)

func fresh(t failer, s batch.Settings) *overbook.Policy {
	t.Helper()
	p, err := overbook.New(batch.Processors(width), s)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*overbook.Policy)
}

func taught(p *overbook.Policy) *overbook.Policy {
	for i := range 8 {
		p.Learn("u", "", 8, batch.Duration(i+1))
		p.Learn("v", "", 8, batch.Duration(i+5))
	}
	return p
}

func TestPromisesAreKeptUnderOverbooking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChaos(t, taught(fresh(t, settings.Draw(t, "settings"))))
		c.strict, c.exact = true, true
		c.play(ops(calm).Draw(t, "ops"))
	})
}

// Checks that the random operations reach overbooking and conflicts.
func TestChaosOverbooksAndEndsInConflicts(t *testing.T) {
	seen := map[string]int{}
	for seed := range 600 {
		p := taught(fresh(t, settings.Example(seed)))
		c := newChaos(t, p)
		c.play(ops(calm).Example(seed))
		n := p.Counts()
		for name, k := range map[string]int{
			"overbooked": n.Overbooked, "counting": n.Counting, "straightened": n.Straightened, "late": n.Late,
			"cut":      n.Cut,
			"extended": n.Extended, "paused": n.Paused, "killed": n.Killed,
			"kept": n.Kept, "outran": n.Outran, "shortened": n.Shortened, "late ends": n.LateEnd,
		} {
			seen[name] += k
		}
	}
	for name, n := range seen {
		if n == 0 {
			t.Errorf("it never happened: %s", name)
		}
	}
	t.Log(seen)
}

func TestNoJobIsLostUnderRandomOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newChaos(t, taught(fresh(t, settings.Draw(t, "settings")))).play(ops(harm).Draw(t, "ops"))
	})
}

func TestMaxPoFZeroEqualsCBF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := settings.Draw(t, "settings")
		set["maxPoF"] = "0"
		list := ops(harm).Draw(t, "ops")
		plain, err := cbf.New(batch.Processors(width), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := newChaos(t, plain).play(list)
		if diff := cmp.Diff(want, newChaos(t, taught(fresh(t, set))).play(list)); diff != "" {
			t.Fatalf("(-cbf +overbook):\n%s", diff)
		}
	})
}

// Failures of the machine break promises; promises made later hold until the next failure.
func TestEstimatesHoldAfterFailures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChaos(t, taught(fresh(t, settings.Draw(t, "settings"))))
		c.exact = true
		c.play(ops(harm).Draw(t, "ops"))
	})
}

// A fork decides the same after the same events, and changes to other copies do not affect it.
func TestForksDecideTheSameAndHaveNoSideEffects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, list := settings.Draw(t, "settings"), ops(harm).Draw(t, "ops")
		want := newChaos(t, taught(fresh(t, set))).play(list)
		c := newChaos(t, taught(fresh(t, set)))
		c.after = func(now batch.Time) {
			f := c.Policy.Fork()
			f.Apply(now, &batch.Event{Kind: batch.Submit, Job: 999, Spec: &batch.Job{
				Handle: 999, Owner: "u", Agreed: true, Deadline: now + secs(30),
				Shape: batch.Shape{Width: width, Walltime: 8 * batch.Second},
			}})
			for h := range c.next {
				if c.state[h] == counted.Running {
					f.Apply(now, &batch.Event{Kind: batch.Finish, Job: h}) // the fork learns its runtime
				}
			}
			var out batch.Decisions
			f.Decide(now, &out)
			c.Policy = c.Policy.Fork() // continue with a fork
		}
		if diff := cmp.Diff(want, c.play(list)); diff != "" {
			t.Fatalf("(-alone +forked):\n%s", diff)
		}
	})
}
