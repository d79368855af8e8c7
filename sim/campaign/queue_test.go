package campaign

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/sim"
)

// TestEveryExperimentIsTakenOnceAfterItsReference with any experiments done
// before, and tasks that end in any order.
func TestEveryExperimentIsTakenOnceAfterItsReference(t *testing.T) {
	c := parsed(t, small)
	experiments := c.Experiments()
	rapid.Check(t, func(t *rapid.T) {
		done := rapid.SliceOfN(rapid.Bool(), len(experiments), len(experiments)).Draw(t, "done")
		workers := rapid.IntRange(1, 6).Draw(t, "workers")
		todo := groups(experiments, func(i int) bool { return done[i] })
		q := newQueue(todo)
		taken := make([]int, len(experiments))
		var running []task
		for {
			// A worker that would have to wait does not ask: the others are running.
			for len(running) < workers && q.something() {
				k, ok := q.take()
				if !ok {
					t.Fatal("there was something to take, and was not")
				}
				if taken[k.experiment]++; experiments[k.experiment].Reference != (k.experiment == k.group.reference) ||
					!experiments[k.experiment].Reference && k.group.compare == nil {
					t.Fatalf("experiment %v without its reference", &experiments[k.experiment])
				}
				running = append(running, k)
			}
			if len(q.begun) > workers {
				t.Fatalf("%d groups with %d workers", len(q.begun), workers)
			}
			if len(running) == 0 {
				break
			}
			i := rapid.IntRange(0, len(running)-1).Draw(t, "ends")
			k := running[i]
			running = append(running[:i], running[i+1:]...)
			last := q.ended(k, &sim.Result{})
			if other := k.group.running > 0 || len(k.group.left) > 0; last == other {
				t.Fatalf("last %v, with %d running and %d left", last, k.group.running, len(k.group.left))
			}
		}
		if _, ok := q.take(); ok || len(q.begun) > 0 {
			t.Fatalf("%d groups are left", len(q.begun))
		}
		for i := range experiments {
			want := 1
			if done[i] {
				want = 0
			}
			if experiments[i].Reference { // needed again if anything of its group is
				for k := i + 1; k < len(experiments) && !experiments[k].Reference; k++ {
					if !done[k] {
						want = 1
					}
				}
			}
			if taken[i] != want {
				t.Fatalf("%v was taken %d times, want %d", &experiments[i], taken[i], want)
			}
		}
	})
}

// something says whether take would not wait.
func (q *queue) something() bool {
	for _, g := range q.begun {
		if len(g.left) > 0 && g.compare != nil {
			return true
		}
	}
	return len(q.waiting) > 0
}
