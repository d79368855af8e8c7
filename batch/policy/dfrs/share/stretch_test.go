package share_test

import (
	"maps"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// reach returns the yield at which a job's inverse stretch is s.
func (r *resident) reach(s float64) float64 {
	y := (s*float64(r.flow+period) - float64(r.virtual)) / float64(period)
	return min(max(y, fraction(r.least)), 1)
}

// overdrawn reports whether a node gives more than it has when all jobs that are not settled
// have the inverse stretch s.
func (w *world) overdrawn(node int32, settled map[int32]float64, s float64) bool {
	use := 0.0
	for _, number := range w.numbers() { // in order: floats are summed
		r := w.jobs[number]
		at, ok := settled[number]
		if !ok {
			at = s
		}
		use += r.reach(at) * float64(r.cpu(node))
	}
	return use > float64(w.room(node))+1e-3
}

// halved is MaxStretch by bisection: it finds the largest s that fits for all jobs, settles the
// jobs on full nodes and those that reach their need, and repeats for the others.
func (w *world) halved() map[int32]float64 {
	settled := map[int32]float64{}
	last := 0.0
	for len(settled) < len(w.jobs) {
		low, high := last, 1.0
		for range 50 {
			middle := (low + high) / 2
			if w.overdrawnAnywhere(settled, middle) {
				high = middle
			} else {
				low = middle
			}
		}
		now := maps.Clone(settled)
		for number, r := range w.jobs {
			if _, ok := settled[number]; !ok && (low > 1-1e-9 || w.blocked(r, settled, low)) {
				now[number] = low
			}
		}
		if len(now) == len(settled) && low <= last {
			panic("no job is blocked, and no job can rise")
		}
		settled, last = now, low
	}
	return settled
}

func (w *world) overdrawnAnywhere(settled map[int32]float64, s float64) bool {
	for node := range w.nodes {
		if w.overdrawn(node, settled, s) {
			return true
		}
	}
	return false
}

// blocked reports whether raising one job a little from s overcommits one of its nodes.
func (w *world) blocked(r *resident, settled map[int32]float64, s float64) bool {
	if r.reach(s) >= 1 || r.reach(s+1e-7) <= fraction(r.least) {
		return r.reach(s) >= 1
	}
	for _, place := range r.places {
		if w.overdrawn(place.Node, settled, s+1e-7) {
			return true
		}
	}
	return false
}

func TestMaxStretchRaisesTheLargestStretchFirst(t *testing.T) {
	for seed := range uint64(300) {
		draw := seeded(seed)
		w := populated(draw, false, int64(batch.One)/16)
		clear(w.taken)
		for _, number := range w.numbers() {
			r := w.jobs[number]
			r.flow = batch.Duration(draw(0, 3600)) * batch.Second
			r.virtual = r.flow * batch.Duration(draw(0, 100)) / 100
		}
		bound := w.pool().Bound()
		for _, number := range w.numbers() {
			w.jobs[number].least = batch.Share(draw(0, int64(bound)))
		}
		p := w.pool()
		p.MaxStretch(period)
		w.fits(t, p)
		for number, s := range w.halved() {
			r := w.jobs[number]
			got, want := fraction(p.Yield(number)), r.reach(s)
			if got < fraction(r.least) || math.Abs(got-want) > 1e-4 {
				t.Fatalf("seed %d: job %d has yield %v, want %v, at least %v", seed, number, got, want,
					fraction(r.least))
			}
		}
	}
}

// Job 1 has had all it could use for an hour, job 2 has just come. With T = 600 s the whole
// node brings the inverse stretch of job 2 to 1, while job 1 stays at 6/7. They are equal where
// 4200 s = 3600 + 600 y and 600 s = 600 (1 - y).
func TestMaxStretchRaisesJobsWithLittleServiceFirst(t *testing.T) {
	p := share.New(1, int64(batch.One))
	put(p, 1, batch.One, 0)
	put(p, 2, batch.One, 0)
	p.Expect(1, 3600*batch.Second, 3600*batch.Second, 0)
	p.MaxStretch(period)
	s := 7.0 / 8 // 7 s = 6 + y, s = 1 - y
	want := []batch.Share{batch.Share((7*s - 6) * float64(batch.One)), batch.Share(s * float64(batch.One))}
	if diff := cmp.Diff(want, yields(p, 1, 2)); diff != "" {
		t.Error(diff)
	}
	p.Expect(1, 3600*batch.Second, 3600*batch.Second, batch.One/2)
	p.MaxStretch(period)
	if diff := cmp.Diff([]batch.Share{batch.One / 2, batch.One / 2}, yields(p, 1, 2)); diff != "" {
		t.Error(diff)
	}
}
