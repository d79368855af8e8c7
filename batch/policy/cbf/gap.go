package cbf

import (
	"math"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// gap is an interval in which capacity was freed.
type gap struct {
	start, end batch.Time
	most       int32 // upper bound of the free capacity in it
}

// unknown is gap.most before measuring.
const unknown = math.MaxInt32

// gaps is sorted by time; its elements do not overlap.
type gaps []gap

// add inserts a gap. With apart it merges only gaps that touch, otherwise it merges all
// into one.
func (s *gaps) add(g gap, apart bool) {
	list := *s
	switch {
	case g.start >= g.end:
		return
	case !apart && len(list) == 1:
		list[0] = list[0].with(g)
		return
	}
	from, to := 0, len(list)
	if apart {
		from, _ = slices.BinarySearchFunc(list, g, func(a, g gap) int {
			if a.end < g.start {
				return -1
			}
			return 1
		})
		to = from
		for to < len(list) && list[to].start <= g.end {
			to++
		}
	}
	for _, o := range list[from:to] {
		g = g.with(o)
	}
	*s = slices.Replace(list, from, to, g)
}

// with returns the smallest interval that holds both.
func (g gap) with(o gap) gap {
	return gap{min(g.start, o.start), max(g.end, o.end), max(g.most, o.most)}
}
