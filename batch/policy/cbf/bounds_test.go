package cbf

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// A search that starts at the bound has the same result as one from the start of the profile.
func TestBoundsAreNeverAfterTheFirstSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const width = 64
		p := profile.New(0, width)
		var b bounds
		var held []gap
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(held) > 0 && rapid.IntRange(0, 9).Draw(t, "what") == 0 {
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				p.Release(held[i].start, held[i].end, held[i].most)
				held = append(held[:i], held[i+1:]...)
				continue
			}
			w := rapid.Int32Range(1, width).Draw(t, "width")
			d := batch.Duration(rapid.Int64Range(1, 1<<rapid.IntRange(1, 40).Draw(t, "order")).Draw(t, "length"))
			b.begin(p.Grown())
			want := p.Fit(0, d, w)
			if got := p.Fit(b.of(w, d), d, w); got != want {
				t.Fatalf("%d wide and %d long: from %d on the first place is %d, but it is %d", w, d, b.of(w, d), got,
					want)
			}
			b.note(w, d, want)
			p.Reserve(want, want.Add(d), w)
			held = append(held, gap{want, want.Add(d), w})
		}
	})
}

func TestClassesStartAtQuartersOfOctaves(t *testing.T) {
	last := 0
	for n := uint64(1); n < 1<<12; n++ {
		c, exact := class(n)
		if before, _ := class(max(n-1, 1)); exact != (c != before || n == 1) || c < last {
			t.Errorf("%d is in class %d, exact: %v, after %d", n, c, exact, before)
		}
		last = c
	}
	if c, _ := class(1<<63 - 1); c >= walltimeClasses-1 {
		t.Errorf("the longest is in class %d", c)
	}
}
