package license

import "math/bits"

// Greedy sets keep for the items that get their licenses. It discards the item of the lowest
// unit cost until no license is critical. The unit cost of an item is its value over its
// weight; the weight is the sum, over its critical licenses, of the fraction of copies that it
// requests. Weights fall as licenses cease to be critical, and are recomputed.
//
// At the end it takes back discarded items that fit into the remaining copies, the last one
// first.
func (k *Knapsack) Greedy(items []Item, copies []int64, keep []bool) {
	k.load(items, copies)
	k.rank(items)
	for k.over > 0 {
		top := &k.heap[0]
		weight := k.weight(items[top.item].Needs)
		switch {
		case weight == 0: // none of its licenses is critical or will become critical
			k.pop()
		case weight < top.weight:
			top.weight = weight
			k.down(0)
		default:
			k.discard(items, top.item)
			k.pop()
		}
	}
	k.refill(items)
	for i := range items {
		keep[i] = !k.out[i]
	}
}

// discard discards an item.
func (k *Knapsack) discard(items []Item, i int32) {
	k.out[i] = true
	k.gone = append(k.gone, i)
	for _, n := range items[i].Needs {
		was := k.critical(n.License)
		k.demand[n.License] -= int64(n.Copies)
		if was && !k.critical(n.License) {
			k.over--
		}
	}
}

// refill takes back discarded items that fit.
func (k *Knapsack) refill(items []Item) {
	for l := range k.room {
		k.room[l] -= k.demand[l]
	}
	for at := len(k.gone) - 1; at >= 0; at-- {
		i := k.gone[at]
		if needs := items[i].Needs; k.fits(needs) {
			k.out[i] = false
			for _, n := range needs {
				k.room[n.License] -= int64(n.Copies)
			}
		}
	}
}

// whole is the weight of an item that needs all copies of one critical license. Fractions are
// rounded down to 2^-32.
const whole = 1 << 32

// weight returns the sum of an item's fractions of critical licenses, at least 1 if it requests
// any.
func (k *Knapsack) weight(needs []Need) uint64 {
	var sum uint64
	for _, n := range needs {
		if k.critical(n.License) {
			sum += max(1, uint64(n.Copies)*whole/uint64(k.room[n.License]))
		}
	}
	return sum
}

// ranked is an item with its weight when last computed. Weights only fall, so its unit cost is
// at least value over weight.
type ranked struct {
	value  uint64
	weight uint64
	item   int32
}

// before reports whether a is discarded before b: by lower unit cost, then by later submission.
func (a *ranked) before(b *ranked) bool {
	high, low := bits.Mul64(a.value, b.weight)
	otherHigh, otherLow := bits.Mul64(b.value, a.weight)
	if high != otherHigh {
		return high < otherHigh
	}
	if low != otherLow {
		return low < otherLow
	}
	return a.item > b.item
}

// rank builds a heap of all items that request critical licenses, with the first to discard on
// top.
func (k *Knapsack) rank(items []Item) {
	k.heap = k.heap[:0]
	for i := range items {
		if items[i].Kept || k.out[i] {
			continue
		}
		if w := k.weight(items[i].Needs); w > 0 {
			k.heap = append(k.heap, ranked{uint64(max(0, items[i].Value)), w, int32(i)})
		}
	}
	for i := len(k.heap)/2 - 1; i >= 0; i-- {
		k.down(i)
	}
}

func (k *Knapsack) pop() {
	last := len(k.heap) - 1
	k.heap[0] = k.heap[last]
	k.heap = k.heap[:last]
	if last > 0 {
		k.down(0)
	}
}

func (k *Knapsack) down(at int) {
	h := k.heap
	for {
		first := 2*at + 1
		if first >= len(h) {
			return
		}
		if first+1 < len(h) && h[first+1].before(&h[first]) {
			first++
		}
		if !h[first].before(&h[at]) {
			return
		}
		h[at], h[first] = h[first], h[at]
		at = first
	}
}
