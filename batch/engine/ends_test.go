package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The remaining entries of the heap come out in order, independent of the dropped ones.
func TestEndsStayInOrderAfterDrops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h ends
		var want []end
		for i := range rapid.IntRange(0, 60).Draw(t, "ends") {
			x := end{batch.Time(rapid.IntRange(0, 20).Draw(t, "at")), uint32(i), batch.Handle(i)}
			h.push(x)
			want = append(want, x)
		}
		kept := map[batch.Handle]bool{}
		for _, x := range want {
			kept[x.job] = rapid.IntRange(0, 2).Draw(t, "stays") > 0
		}
		stays := func(x end) bool { return kept[x.job] }
		h.keep(stays)
		want = slices.DeleteFunc(want, func(x end) bool { return !stays(x) })
		slices.SortFunc(want, func(a, b end) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		got := []end{}
		for len(h) > 0 {
			got = append(got, h.pop())
		}
		if diff := cmp.Diff(append([]end{}, want...), got, cmp.AllowUnexported(end{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
