package share_test

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// crowd is a pool with a stream of jobs, each of which replaces another.
type crowd struct {
	*share.Pool
	moves []move
	next  int
}

type move struct {
	number int32
	groups []pack.Group
	places []pack.Placement
}

// newCrowd draws a pool with a number of jobs, 1 to widest wide (powers of two), with needs of
// half or whole processors. Each task goes to the node with the lowest load, as in the paper's
// greedy algorithms.
func newCrowd(nodes, jobs, widest int32) *crowd {
	random := rand.New(rand.NewPCG(1, uint64(jobs)))
	c := &crowd{Pool: share.New(nodes, int64(batch.One))}
	for i := range 2000 + jobs {
		m := move{number: i, groups: []pack.Group{{CPU: batch.One >> random.IntN(2)}}}
		if i >= jobs {
			m.number = random.Int32N(jobs)
			c.Remove(m.number)
		}
		for node := range nodes {
			m.places = append(m.places, pack.Placement{Node: node, Tasks: 1})
		}
		slices.SortFunc(m.places, func(a, b pack.Placement) int {
			return cmp.Or(cmp.Compare(c.Load(a.Node), c.Load(b.Node)), cmp.Compare(a.Node, b.Node))
		})
		m.places = m.places[:1<<random.IntN(bits.Len32(uint32(widest)))]
		c.Put(m.number, m.groups, m.places)
		if i >= jobs {
			c.moves = append(c.moves, m)
		}
	}
	for number := range jobs {
		c.Expect(number, batch.Duration(random.Int64N(1<<40)), 1<<30, 0)
	}
	return c
}

// BenchmarkEvent measures an end or a submission and the allocation after it; the case without
// an allocation measures only Put and Remove.
func BenchmarkEvent(b *testing.B) {
	for _, size := range []struct{ nodes, jobs, widest int32 }{
		{120, 20, 16}, {120, 40, 16}, {120, 60, 16}, {120, 40, 64}, {120, 100, 64}, {1000, 1000, 16},
	} {
		for _, goal := range []string{"without", "max-min", "average", "equal", "max-stretch", "mean-stretch"} {
			b.Run(fmt.Sprintf("%s/nodes=%d/jobs=%d/widest=%d", goal, size.nodes, size.jobs, size.widest),
				func(b *testing.B) {
					c := newCrowd(size.nodes, size.jobs, size.widest)
					allocate := goals[goal]
					if allocate == nil {
						allocate = func(*share.Pool) []int32 { return nil }
					}
					b.ReportAllocs()
					for b.Loop() { // two events
						m := c.moves[c.next%len(c.moves)]
						c.next++
						c.Remove(m.number)
						allocate(c.Pool)
						c.Put(m.number, m.groups, m.places)
						allocate(c.Pool)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/event")
				})
		}
	}
}
