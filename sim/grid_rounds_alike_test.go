package sim

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// A round believes that of two jobs that are alike the lesser one is completed no
// later anywhere: so none of its widths may take longer.
func TestSmallerJobOfAGroupTakesNoLongerAtAnyWidth(t *testing.T) {
	types := []moldableType{{amdahl: amdahl{800_000, 32}}, {amdahl: amdahl{999_000, 40}}}
	rapid.Check(t, func(t *rapid.T) {
		m := menus{types: types, widest: rapid.Int32Range(1, 40).Draw(t, "widest"), byJob: make([][]batch.Shape, 2)}
		var like [2]int
		var size [2]int64
		for i := range like {
			j := Job{
				Type: rapid.Uint8Range(0, 2).Draw(t, "type"), Width: rapid.Int32Range(2, 5).Draw(t, "width"),
				Walltime: batch.Duration(rapid.IntRange(1, 100).Draw(t, "walltime")) * batch.Second,
			}
			like[i], size[i] = kind(&j, m.take(i, &j))
		}
		if like[0] != like[1] {
			return
		}
		lesser := 0
		if size[1] < size[0] {
			lesser = 1
		}
		for i, s := range m.byJob[lesser] {
			if other := m.byJob[1-lesser][i]; s.Width != other.Width || s.Walltime > other.Walltime {
				t.Fatalf("%v is less than %v", s, other)
			}
		}
	})
}

func TestJobWithOverflowingWalltimesIsInNoGroup(t *testing.T) {
	long := batch.Shape{Width: 1, Walltime: batch.Forever - 1}
	if like, _ := kind(&Job{Width: 1}, []batch.Shape{long, long}); like != 0 {
		t.Errorf("like %d", like)
	}
}
