package sim

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// A menu is the job's own until it is released, whatever memory it has.
func TestMenusDoNotShareMemoryWhileTheyAreUsed(t *testing.T) {
	types := paperTypes(t)
	rapid.Check(t, func(t *rapid.T) {
		const n = 12
		m := newMenus(&Grid{types: types, widest: 40}, n)
		jobs, held := make([]Job, n), map[int][]batch.Shape{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, n-1).Draw(t, "job")
			if held[i] != nil {
				m.release(int32(i))
				delete(held, i)
				continue
			}
			jobs[i] = Job{
				Width: rapid.Int32Range(2, 40).Draw(t, "width"), Type: rapid.Uint8Range(0, 4).Draw(t, "type"),
				Walltime: batch.Duration(rapid.IntRange(1, 1000).Draw(t, "walltime")) * batch.Second,
			}
			held[i] = m.take(i, &jobs[i])
			for k, menu := range held {
				fresh := newMenus(&Grid{types: types, widest: 40}, n)
				want := fresh.take(k, &jobs[k])
				if len(menu) != len(want) {
					t.Fatalf("job %d has %d shapes, want %d", k, len(menu), len(want))
				}
				for x := range menu {
					if menu[x] != want[x] {
						t.Fatalf("job %d: %v, want %v", k, menu[x], want[x])
					}
				}
			}
		}
	})
}

func TestMenusAllocateNothingInTheSteadyState(t *testing.T) {
	m := newMenus(&Grid{types: paperTypes(t), widest: 338}, 1)
	j := Job{Width: 8, Walltime: batch.Hour, Type: 4}
	if n := testing.AllocsPerRun(100, func() {
		m.take(0, &j)
		m.release(0)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
