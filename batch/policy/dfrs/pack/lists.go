package pack

import (
	"slices"
)

// runs is one of the two lists: runs of tasks with equal requirements, in parallel slices. key
// is the requirement that orders the list, descending.
type runs struct {
	key, other []int64
	left       []int64
	first      []int32 // start of its items; the last run ends at len(items)
	items      []int32

	least []int64 // the smallest other from this run on
	jump  []int32 // the first run with a smaller key
	skip  []int32 // a link toward the first run from this one on that has tasks left
}

func (r *runs) reset() {
	r.key, r.other, r.left = r.key[:0], r.other[:0], r.left[:0]
	r.first, r.items = r.first[:0], r.items[:0]
}

func (r *runs) add(at int32, tasks, key, other int64) {
	if last := len(r.key) - 1; last >= 0 && r.key[last] == key && r.other[last] == other {
		r.left[last] += tasks
	} else {
		r.key, r.other, r.left = append(r.key, key), append(r.other, other), append(r.left, tasks)
		r.first = append(r.first, int32(len(r.items)))
	}
	r.items = append(r.items, at)
}

// seal computes the links. It must be called after the last add.
func (r *runs) seal() {
	n := len(r.key)
	r.least = slices.Grow(r.least[:0], n)[:n]
	r.jump = slices.Grow(r.jump[:0], n)[:n]
	r.skip = slices.Grow(r.skip[:0], n+1)[:n+1]
	r.skip[n] = int32(n)
	for i := n - 1; i >= 0; i-- {
		r.skip[i] = int32(i)
		switch {
		case i == n-1:
			r.least[i], r.jump[i] = r.other[i], int32(n)
		case r.key[i+1] < r.key[i]:
			r.least[i], r.jump[i] = min(r.other[i], r.least[i+1]), int32(i+1)
		default:
			r.least[i], r.jump[i] = min(r.other[i], r.least[i+1]), r.jump[i+1]
		}
	}
}

// live returns the first run from i on that has tasks left, or the length of the list.
func (r *runs) live(i int32) int32 {
	for r.skip[i] != i {
		r.skip[i] = r.skip[r.skip[i]]
		i = r.skip[i]
	}
	return i
}

// next returns the first run from i on with a task that fits, or the length of the list.
func (r *runs) next(i int32, key, other int64) int32 {
	end := int32(len(r.key))
	for i = r.live(i); i < end; {
		switch {
		case r.key[i] > key:
			i = r.live(r.jump[i])
		case r.other[i] <= other:
			return i
		case r.least[i] > other:
			return end
		default:
			i = r.live(i + 1)
		}
	}
	return end
}

// divide builds the two lists for one common yield. Their orders do not depend on the yield:
// the CPU list is ordered by need.
func (p *Packer) divide(t *plan, n int) {
	y := t.value
	for _, r := range p.byCPU {
		if it := &p.items[r.item]; y > it.bound && int(it.job) < n {
			t.want(0, r.item, it, share(it.need, y), it.memory)
		}
	}
	for _, r := range p.byMemory {
		if it := &p.items[r.item]; y <= it.bound && int(it.job) < n {
			t.want(1, r.item, it, it.memory, share(it.need, y))
		}
	}
	t.seal()
}

// divideByStretch builds the two lists if each job has its own yield.
func (p *Packer) divideByStretch(t *plan, n int) {
	p.byCPU = p.byCPU[:0]
	for i := range p.items {
		it := &p.items[i]
		if int(it.job) < n && t.yields[it.job] > it.bound {
			p.byCPU = append(p.byCPU, ranked{it.need * int64(t.yields[it.job]), it.order, int32(i)})
		}
	}
	slices.SortFunc(p.byCPU, byKey)
	for _, r := range p.byCPU {
		it := &p.items[r.item]
		t.want(0, r.item, it, share(it.need, t.yields[it.job]), it.memory)
	}
	for _, r := range p.byMemory {
		it := &p.items[r.item]
		if int(it.job) < n && t.yields[it.job] <= it.bound {
			t.want(1, r.item, it, it.memory, share(it.need, t.yields[it.job]))
		}
	}
	t.seal()
}
