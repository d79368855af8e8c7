package share_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

func TestEqualGivesUnneededCPUToOtherTasks(t *testing.T) {
	p := share.New(2, int64(batch.One))
	put(p, 1, batch.One/8, 0) // needs less than a third
	put(p, 2, batch.One, 0, 1)
	put(p, 3, batch.One, 0)
	p.Equal()
	part := batch.One / 16 * 7
	if diff := cmp.Diff([]batch.Share{batch.One, part, part}, yields(p, 1, 2, 3)); diff != "" {
		t.Error(diff)
	}
}

// level returns the most that each task of a node gets, by bisection.
func (w *world) level(node int32) float64 {
	low, high := 0.0, 1.0
	for range 50 {
		middle, use := (low+high)/2, 0.0
		for _, r := range w.jobs {
			for _, place := range r.places {
				if place.Node == node {
					use += float64(place.Tasks) * min(middle, float64(r.need(place))/float64(batch.One))
				}
			}
		}
		if use > float64(w.room(node))/float64(batch.One) {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

func TestEqualYieldIsTheLowestOfAllTasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := populated(drawn(t), false, int64(batch.One)/16)
		p := w.pool()
		p.Equal()
		for number, r := range w.jobs {
			want := 1.0
			for _, place := range r.places {
				want = min(want, w.level(place.Node)*float64(batch.One)/float64(r.need(place)))
			}
			if got := fraction(p.Yield(number)); got > want+1e-6 || got < want-1e-4 {
				t.Fatalf("job %d has yield %v, want %v", number, got, want)
			}
		}
	})
}
