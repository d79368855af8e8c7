package share_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// world is a simple model of a pool.
type world struct {
	nodes    int32
	capacity int64
	taken    []int64
	jobs     map[int32]*resident
	smallest int64 // smallest drawn need
}

type resident struct {
	groups        []pack.Group
	places        []pack.Placement
	weight        int32
	flow, virtual batch.Duration
	least         batch.Share
}

func newWorld(nodes int32, capacity int64) *world {
	return &world{
		nodes: nodes, capacity: capacity, taken: make([]int64, nodes), jobs: map[int32]*resident{}, smallest: 1 << 8,
	}
}

func (w *world) numbers() []int32 {
	var all []int32
	for number := range w.jobs {
		all = append(all, number)
	}
	slices.Sort(all)
	return all
}

// need returns the need of each task of a placement.
func (r *resident) need(p pack.Placement) int64 {
	return int64(r.groups[p.Group].CPU)
}

// cpu returns the need of a job on a node.
func (r *resident) cpu(node int32) int64 {
	var sum int64
	for _, p := range r.places {
		if p.Node == node {
			sum += int64(p.Tasks) * r.need(p)
		}
	}
	return sum
}

func (w *world) room(node int32) int64 { return w.capacity - w.taken[node] }

// pool returns a new pool with the jobs of this world, in ascending order.
func (w *world) pool() *share.Pool {
	p := share.New(w.nodes, w.capacity)
	for _, number := range w.numbers() {
		r := w.jobs[number]
		p.Put(number, r.groups, r.places)
		p.Weigh(number, r.weight)
		p.Expect(number, r.flow, r.virtual, r.least)
	}
	for i, taken := range w.taken {
		p.Take(int32(i), taken)
	}
	return p
}

// source draws integers between two bounds, inclusive.
type source func(low, high int64) int64

func drawn(t *rapid.T) source {
	return func(low, high int64) int64 { return rapid.Int64Range(low, high).Draw(t, "n") }
}

func seeded(seed uint64) source {
	r := rand.New(rand.NewPCG(seed, 7))
	return func(low, high int64) int64 { return low + r.Int64N(high-low+1) }
}

// aJob draws a job of one or two groups on some nodes.
func (w *world) aJob(draw source) *resident {
	r := &resident{weight: share.WeightOne}
	needs := []batch.Share{batch.One, batch.One / 2, batch.One / 4, batch.Share(draw(w.smallest, int64(batch.One)))}
	for range draw(1, 2) {
		r.groups = append(r.groups, pack.Group{CPU: needs[draw(0, 3)]})
	}
	for g := range r.groups {
		first, count := draw(0, int64(w.nodes)-1), draw(1, min(int64(w.nodes), 6))
		for i := range count {
			r.places = append(r.places, pack.Placement{
				Node: int32((first + i) % int64(w.nodes)), Group: int32(g), Tasks: int32(draw(1, 3)),
			})
		}
	}
	r.flow = batch.Duration(draw(0, 1<<40))
	r.virtual = batch.Duration(draw(0, int64(r.flow)))
	return r
}

// populated draws a world full of jobs.
func populated(draw source, weighted bool, smallest int64) *world {
	w := newWorld(int32(draw(1, 8)), draw(1, 3)*int64(batch.One))
	w.smallest = smallest
	for number := range draw(1, 14) {
		r := w.aJob(draw)
		if weighted {
			r.weight = int32(draw(1, 64))
		}
		w.jobs[int32(number)] = r
	}
	if draw(0, 2) == 0 {
		w.taken[draw(0, int64(w.nodes)-1)] = draw(0, w.capacity)
	}
	return w
}

// goals are the allocations of a pool.
var goals = map[string]func(*share.Pool) []int32{
	"max-min":      (*share.Pool).MaxMin,
	"average":      (*share.Pool).Average,
	"equal":        (*share.Pool).Equal,
	"max-stretch":  func(p *share.Pool) []int32 { return p.MaxStretch(600 * batch.Second) },
	"mean-stretch": func(p *share.Pool) []int32 { return p.MeanStretch(600 * batch.Second) },
}

// fits fails if the tasks of a node get more than it has to give, even before their shares are
// rounded down.
func (w *world) fits(t interface{ Fatalf(string, ...any) }, p *share.Pool) {
	for node := range w.nodes {
		var sum int64
		for number, r := range w.jobs {
			for _, place := range r.places {
				if place.Node == node {
					sum += int64(place.Tasks) * r.need(place) * int64(p.Yield(number))
				}
			}
		}
		if room := w.room(node) << 20; sum > room {
			t.Fatalf("node %d gives %d units of 2^-40, it has %d", node, sum, room)
		}
	}
	for number := range w.jobs {
		if y := p.Yield(number); y < 0 || y > batch.One {
			t.Fatalf("job %d has yield %d", number, y)
		}
	}
}

func TestYieldsFitOnEveryNodeForEveryGoal(t *testing.T) {
	for name, goal := range goals {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := populated(drawn(t), false, 1<<8)
				p := w.pool()
				goal(p)
				w.fits(t, p)
			})
		})
	}
}

// Step-by-step changes of a pool give the same yields as a new pool, the reported changes are
// correct, and a copy is independent.
func TestYieldsDependOnlyOnTheCurrentTasks(t *testing.T) {
	for name, goal := range goals {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				draw := drawn(t)
				w := newWorld(int32(draw(1, 8)), draw(1, 3)*int64(batch.One))
				p := w.pool()
				last := map[int32]batch.Share{} // of the last allocation
				for range draw(1, 30) {
					w.step(draw, p)
					if draw(0, 9) == 0 {
						p.Equal() // another goal in between must have no effect
						last = w.yields(p)
					}
					if draw(0, 9) == 0 {
						left := p
						p = p.Clone()
						for _, number := range w.numbers() {
							left.Remove(number)
							left.Put(number+12, []pack.Group{{CPU: batch.One}}, []pack.Placement{{Tasks: 3}})
							left.Put(number, []pack.Group{{CPU: batch.One / 4}},
								[]pack.Placement{{Node: w.nodes - 1, Tasks: 1}})
						}
						goal(left)
					}
					changed := goal(p)
					fresh := w.pool()
					goal(fresh)
					var want []int32
					for _, number := range w.numbers() {
						if got, want := p.Yield(number), fresh.Yield(number); got != want {
							t.Fatalf("job %d has yield %d, in a new pool %d", number, got, want)
						}
						if was, ok := last[number]; !ok || p.Yield(number) != was {
							want = append(want, number)
						}
					}
					last = w.yields(p)
					if !slices.Equal(changed, want) {
						t.Fatalf("changed: %v, in truth %v", changed, want)
					}
				}
			})
		})
	}
}

// yields returns the yields of all jobs in a pool of this world.
func (w *world) yields(p *share.Pool) map[int32]batch.Share {
	all := map[int32]batch.Share{}
	for number := range w.jobs {
		all[number] = p.Yield(number)
	}
	return all
}

// step makes one change to a world and its pool.
func (w *world) step(draw source, p *share.Pool) {
	number := int32(draw(0, 11))
	switch r := w.jobs[number]; draw(0, 5) {
	case 0, 1, 2:
		moved := w.aJob(draw)
		if r != nil {
			moved.weight = r.weight
		}
		w.jobs[number] = moved
		p.Put(number, moved.groups, moved.places)
		p.Expect(number, moved.flow, moved.virtual, moved.least)
	case 3:
		if r != nil {
			delete(w.jobs, number)
			p.Remove(number)
		}
	case 4:
		if r != nil {
			r.weight = int32(draw(1, 40))
			p.Weigh(number, r.weight)
		}
	case 5:
		node := int32(draw(0, int64(w.nodes)-1))
		if taken := w.taken[node]; taken > 0 {
			p.Give(node, taken)
			w.taken[node] = 0
		} else {
			w.taken[node] = draw(0, w.capacity)
			p.Take(node, w.taken[node])
		}
	}
}
