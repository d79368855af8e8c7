package mapping

import (
	"cmp"
	"slices"
	"strings"
)

// Told is what one site tells about one move. A job's epoch names the move: only
// one site assigns it.
type Told struct {
	Teller   string
	Job      string
	Epoch    uint32
	From     string // the source of the move
	Ordered  int64  // microseconds since 1970 on the teller's clock
	Settled  bool   // moved or aborted
	Realised bool   // its gain is known
	Index    int32  // the driver's
}

// worth orders what two sites tell about one move: the one that knows the gain,
// then one that knows the end, then the source.
func (t *Told) worth() int {
	switch {
	case t.Realised:
		return 3
	case t.Settled:
		return 2
	case t.Teller == t.From:
		return 1
	}
	return 0
}

// MovePlace is a move's place in the list of all, the latest first. It does not
// change while a move goes on, so that pages fit together: Ordered is the
// source's word, or the earliest if the source is silent.
type MovePlace struct {
	Ordered int64
	Job     string
	Epoch   uint32
}

// Compare is negative when p comes before q, as the later one does.
func (p MovePlace) Compare(q MovePlace) int {
	return cmp.Or(
		cmp.Compare(q.Ordered, p.Ordered),
		strings.Compare(p.Job, q.Job),
		cmp.Compare(q.Epoch, p.Epoch),
	)
}

// MergedMove is one move: the most that is told about it, and its place.
type MergedMove struct {
	Told
	Place MovePlace
}

// MergeMoves returns each move once, the latest first. It sorts told.
func MergeMoves(told []Told) []MergedMove {
	slices.SortFunc(told, func(a, b Told) int {
		source := func(t *Told) int {
			if t.Teller == t.From {
				return 0
			}
			return 1
		}
		return cmp.Or(
			strings.Compare(a.Job, b.Job),
			cmp.Compare(a.Epoch, b.Epoch),
			cmp.Compare(source(&a), source(&b)), // first: whose Ordered counts
			cmp.Compare(a.Ordered, b.Ordered),
			strings.Compare(a.Teller, b.Teller),
		)
	})
	var out []MergedMove
	for _, t := range told {
		last := len(out) - 1
		if last >= 0 && out[last].Job == t.Job && out[last].Epoch == t.Epoch {
			if t.worth() > out[last].worth() {
				out[last].Told = t
			}
			continue
		}
		out = append(out, MergedMove{Told: t, Place: MovePlace{Ordered: t.Ordered, Job: t.Job, Epoch: t.Epoch}})
	}
	slices.SortFunc(out, func(a, b MergedMove) int { return a.Place.Compare(b.Place) })
	return out
}
