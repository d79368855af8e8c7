package share_test

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// put puts a job with one task on each node.
func put(p *share.Pool, number int32, need batch.Share, nodes ...int32) {
	var places []pack.Placement
	for _, n := range nodes {
		places = append(places, pack.Placement{Node: n, Tasks: 1})
	}
	p.Put(number, []pack.Group{{CPU: need}}, places)
}

func yields(p *share.Pool, numbers ...int32) []batch.Share {
	var all []batch.Share
	for _, number := range numbers {
		all = append(all, p.Yield(number))
	}
	return all
}

func TestMaxMinRaisesJobsUntilANodeIsFull(t *testing.T) {
	p := share.New(3, int64(batch.One))
	put(p, 1, batch.One, 0)
	put(p, 2, batch.One, 0)
	put(p, 3, batch.One, 0, 1) // a third on node 0, and so on node 1
	put(p, 4, batch.One, 1)    // two thirds are left there
	put(p, 5, batch.One/2, 2)
	p.MaxMin()
	want := []batch.Share{batch.One / 3, batch.One / 3, batch.One / 3, batch.One - batch.One/3, batch.One}
	if diff := cmp.Diff(want, yields(p, 1, 2, 3, 4, 5)); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyDependentJobsAreReportedAsChanged(t *testing.T) {
	p := share.New(2, int64(batch.One))
	put(p, 1, batch.One, 0)
	put(p, 2, batch.One, 0)
	put(p, 3, batch.One, 1)
	p.MaxMin()
	put(p, 4, batch.One, 1)
	if diff := cmp.Diff([]int32{3, 4}, p.MaxMin()); diff != "" {
		t.Error(diff)
	}
	p.Take(0, int64(batch.One)/2)
	p.Remove(3)
	if diff := cmp.Diff([]int32{1, 2, 4}, p.MaxMin()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]batch.Share{batch.One / 4, batch.One / 4, 0, batch.One}, yields(p, 1, 2, 3, 4)); diff != "" {
		t.Error(diff)
	}
}

func TestAWeightedJobRisesFasterUpToItsNeed(t *testing.T) {
	p := share.New(2, int64(batch.One))
	put(p, 1, batch.One, 0)
	put(p, 2, batch.One, 0)
	p.Weigh(1, 3*share.WeightOne)
	put(p, 3, batch.One/2, 1)
	put(p, 4, batch.One, 1)
	p.Weigh(3, share.MaxWeight) // reaches its need; half is left
	p.MaxMin()
	want := []batch.Share{batch.One / 4 * 3, batch.One / 4, batch.One, batch.One / 2}
	if diff := cmp.Diff(want, yields(p, 1, 2, 3, 4)); diff != "" {
		t.Error(diff)
	}
}

// exact is progressive filling in fractions: the level rises until a node is full or a job
// reaches its need, and the jobs concerned stay at that level.
func (w *world) exact() map[int32]*big.Rat {
	yields := map[int32]*big.Rat{}
	one := big.NewRat(1, 1)
	for len(yields) < len(w.jobs) {
		var lowest *big.Rat
		var who []int32
		hit := func(level *big.Rat, numbers ...int32) {
			if lowest == nil || level.Cmp(lowest) < 0 {
				lowest, who = level, nil
			}
			if level.Cmp(lowest) == 0 {
				who = append(who, numbers...)
			}
		}
		for number, r := range w.jobs {
			if yields[number] == nil {
				hit(big.NewRat(share.WeightOne, int64(r.weight)), number)
			}
		}
		for node := range w.nodes {
			free, active := big.NewRat(w.room(node), 1), new(big.Rat)
			var on []int32
			for number, r := range w.jobs {
				cpu := r.cpu(node)
				if y := yields[number]; y != nil {
					free.Sub(free, new(big.Rat).Mul(y, big.NewRat(cpu, 1)))
				} else if cpu > 0 {
					active.Add(active, new(big.Rat).Mul(big.NewRat(cpu, 1),
						big.NewRat(int64(r.weight), share.WeightOne)))
					on = append(on, number)
				}
			}
			if len(on) > 0 {
				hit(free.Quo(free, active), on...)
			}
		}
		for _, number := range who {
			y := new(big.Rat).Mul(lowest, big.NewRat(int64(w.jobs[number].weight), share.WeightOne))
			if y.Cmp(one) > 0 {
				y = one
			}
			yields[number] = y
		}
	}
	return yields
}

// Other jobs can gain what one job loses by rounding, times the ratio of their needs or
// weights. The fractions are therefore matched within a few units.
func TestMaxMinIsTheMaxMinFairAllocation(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		rapid.Check(t, func(t *rapid.T) {
			w := populated(drawn(t), weighted, int64(batch.One)/8)
			p := w.pool()
			p.MaxMin()
			for number, y := range w.exact() {
				want, _ := new(big.Rat).Mul(y, big.NewRat(int64(batch.One), 1)).Float64()
				if got := float64(p.Yield(number)); got < want-tolerance || got > want+tolerance {
					t.Fatalf("job %d has yield %v, want %v", number, got, want)
				}
			}
		})
	}
}

const tolerance = 1024

// Each job below its need is on a node that is full except for rounding, and no job there has
// more for its weight.
func TestNoJobCanRiseWithoutLoweringASmallerOne(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		rapid.Check(t, func(t *rapid.T) {
			w := populated(drawn(t), weighted, 1<<8)
			p := w.pool()
			p.MaxMin()
			for number, r := range w.jobs {
				if p.Yield(number) < batch.One && !w.held(p, r, p.Yield(number)) {
					t.Fatalf("job %d could have more than %d", number, p.Yield(number))
				}
			}
		})
	}
}

// held reports whether one of its nodes limits a job to its yield.
func (w *world) held(p *share.Pool, r *resident, yield batch.Share) bool {
	for _, place := range r.places {
		slack, step := w.room(place.Node)<<20, int64(0)
		worst := true
		for number, other := range w.jobs {
			cpu := other.cpu(place.Node)
			if cpu == 0 {
				continue
			}
			slack -= cpu * int64(p.Yield(number))
			step += cpu * (int64(other.weight)/share.WeightOne + 2)
			// yields by weight, with one unit of rounding on each side
			if int64(p.Yield(number)-1)*int64(r.weight) > int64(yield+1)*int64(other.weight) {
				worst = false
			}
		}
		if worst && slack < step {
			return true
		}
	}
	return false
}
