package pack

import (
	"math/big"
	"slices"
	"sort"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The simple algorithm: task by task, each list from its front, in rationals.

type slowItem struct {
	job, group  int
	left        int32
	order       int64
	cpu, memory int64    // taken by a task
	wantsCPU    *big.Rat // exact fractions of a node
	wantsMemory *big.Rat
}

func (it *slowItem) most() *big.Rat {
	if it.wantsCPU.Cmp(it.wantsMemory) > 0 {
		return it.wantsCPU
	}
	return it.wantsMemory
}

func slowPack(m *Machine, jobs []Job, yields []batch.Share) ([][]Placement, bool) {
	freeCPU, freeMemory := make([]int64, m.Nodes), make([]int64, m.Nodes)
	for node := range freeCPU {
		freeCPU[node], freeMemory[node] = m.CPU, max(m.Memory, 1)
		if m.Memory > 0 && m.Taken != nil {
			freeMemory[node] -= m.Taken[node]
		}
	}
	memoryOf := func(g *Group) int64 {
		if m.Memory == 0 {
			return 0
		}
		return g.Memory
	}
	places := make([][]Placement, len(jobs))
	var lists [2][]*slowItem // CPU, memory
	for i := range jobs {
		for g := range jobs[i].Groups {
			group := &jobs[i].Groups[g]
			it := &slowItem{
				job: i, group: g, left: group.Tasks, order: jobs[i].Order,
				cpu: max(1, int64(group.CPU)*int64(yields[i])/int64(batch.One)), memory: memoryOf(group),
			}
			it.wantsCPU = new(big.Rat).Mul(big.NewRat(int64(group.CPU), m.CPU),
				big.NewRat(int64(yields[i]), int64(batch.One)))
			it.wantsMemory = big.NewRat(it.memory, max(m.Memory, 1))
			if len(jobs[i].Pinned) > 0 {
				for _, p := range jobs[i].Pinned {
					if int(p.Group) == g {
						freeCPU[p.Node] -= int64(p.Tasks) * it.cpu
						freeMemory[p.Node] -= int64(p.Tasks) * it.memory
					}
				}
				continue
			}
			list := 1
			if it.wantsCPU.Cmp(it.wantsMemory) > 0 {
				list = 0
			}
			lists[list] = append(lists[list], it)
		}
		places[i] = slices.Clone(jobs[i].Pinned)
	}
	for _, l := range lists {
		sort.SliceStable(l, func(a, b int) bool {
			if c := l[a].most().Cmp(l[b].most()); c != 0 {
				return c > 0
			}
			return l[a].order < l[b].order
		})
	}
	for node := range m.Nodes {
		if freeCPU[node] < 0 {
			return nil, false
		}
		if m.Down != nil && m.Down[node] {
			continue
		}
		for slowTask(m, node, &freeCPU[node], &freeMemory[node], lists, places) {
		}
	}
	for _, l := range lists {
		for _, it := range l {
			if it.left > 0 {
				return nil, false
			}
		}
	}
	for _, p := range places {
		slices.SortFunc(p, byNode)
	}
	return places, true
}

// slowTask places one task on a node and reports whether one fits.
func slowTask(m *Machine, node int32, cpu, memory *int64, lists [2][]*slowItem, places [][]Placement) bool {
	turn := []int{0, 1}
	if big.NewRat(*memory, max(m.Memory, 1)).Cmp(big.NewRat(*cpu, m.CPU)) > 0 {
		turn = []int{1, 0}
	}
	for _, list := range turn {
		for _, it := range lists[list] {
			if it.left == 0 || it.cpu > *cpu || it.memory > *memory {
				continue
			}
			it.left--
			*cpu -= it.cpu
			*memory -= it.memory
			for i := range places[it.job] {
				if p := &places[it.job][i]; p.Node == node && int(p.Group) == it.group {
					p.Tasks++
					return true
				}
			}
			places[it.job] = append(places[it.job], Placement{node, int32(it.group), 1})
			return true
		}
	}
	return false
}

// slowSearch is the common search of Yield and Stretch, given the yields for a value.
func slowSearch(
	m *Machine, jobs []Job, floor batch.Share, yields func(n int, value batch.Share) ([]batch.Share, bool),
) (int, batch.Share, [][]Placement) {
	var places [][]Placement
	try := func(n int, value batch.Share) bool {
		ys, ok := yields(n, value)
		if !ok {
			return false
		}
		found, ok := slowPack(m, jobs[:n], ys)
		if ok {
			places = found
		}
		return ok
	}
	n := len(jobs)
	if try(n, batch.One) {
		return n, batch.One, places
	}
	for !try(n, floor) {
		n--
	}
	if n < len(jobs) && try(n, batch.One) {
		return n, batch.One, places
	}
	low, high := floor, batch.One
	for high-low > batch.One/100 {
		if middle := (low + high) / 2; try(n, middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return n, low, places
}

func slowYield(m *Machine, jobs []Job) (int, batch.Share, [][]Placement) {
	return slowSearch(m, jobs, batch.One/100, func(n int, value batch.Share) ([]batch.Share, bool) {
		return slices.Repeat([]batch.Share{value}, n), true
	})
}

func slowStretch(m *Machine, jobs []Job, period batch.Duration) (int, batch.Share, [][]Placement) {
	return slowSearch(m, jobs, 0, func(n int, value batch.Share) ([]batch.Share, bool) {
		return slowYields(jobs[:n], value, period)
	})
}

// slowYields solves the equation of the stretch in rationals.
func slowYields(jobs []Job, value batch.Share, period batch.Duration) ([]batch.Share, bool) {
	var ys []batch.Share
	for i := range jobs {
		work := new(big.Int).Mul(big.NewInt(int64(value)), new(big.Int).Add(big.NewInt(int64(jobs[i].Flow)),
			big.NewInt(int64(period))))
		work.Sub(work, new(big.Int).Mul(big.NewInt(int64(batch.One)), big.NewInt(int64(jobs[i].Virtual))))
		y, rest := new(big.Int).QuoRem(work, big.NewInt(int64(period)), new(big.Int))
		if rest.Sign() > 0 {
			y.Add(y, big.NewInt(1))
		}
		if y.Sign() < 0 {
			y.SetInt64(0)
		}
		if y.Cmp(big.NewInt(int64(batch.One))) > 0 {
			return nil, false
		}
		ys = append(ys, batch.Share(y.Int64()))
	}
	return ys, true
}
