package cbf

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// gap is a stretch of time in which capacity was given back.
type gap struct {
	start, end batch.Time
	most       int32 // no more is free at any instant of it; 0: not known yet
}

// gaps are in order of time and do not overlap.
type gaps []gap

// add puts a gap in. Apart, it is merged with those it touches; else all are
// made one.
func (s *gaps) add(g gap, apart bool) {
	if g.start >= g.end {
		return
	}
	list := *s
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
	known := g.most > 0
	for _, o := range list[from:to] {
		g.start, g.end, g.most = min(g.start, o.start), max(g.end, o.end), max(g.most, o.most)
		known = known && o.most > 0
	}
	if !known {
		g.most = 0
	}
	*s = slices.Replace(list, from, to, g)
}
