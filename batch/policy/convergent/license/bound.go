package license

import (
	"cmp"
	"math/bits"
	"slices"
)

// bound returns the least bound found within a number of steps, and the prices and reduced
// values of that bound. It ends early if the bound shows that the node holds nothing better
// than best.
func (n *node) bound(best int64, steps int) (least int64, price, reduced []int64) {
	trial := append([]int64(nil), n.price...)
	now := make([]int64, len(n.free))
	slack := make([]int64, len(trial))
	price, reduced = append([]int64(nil), trial...), make([]int64, len(now))
	least = 1 << 62
	const full = 1 << 20 // initial step length
	length, since := int64(full), 0
	for range steps {
		bound := n.at(trial, now, slack)
		if bound < least {
			least, since = bound, 0
			copy(price, trial)
			copy(reduced, now)
		} else if since++; since == 4 {
			since, length = 0, length*2/3
			copy(trial, price)
			n.at(trial, now, slack)
		}
		if least <= best || length == 0 {
			break
		}
		var norm int64
		for l, s := range slack {
			if s > 0 && trial[l] == 0 {
				continue // its price cannot fall
			}
			norm += s * s
		}
		if norm == 0 {
			break
		}
		gap := least - best
		for l, s := range slack {
			by := mulDiv(mulDiv(gap, length, full), max(s, -s), norm)
			if s > 0 {
				by = -by
			}
			trial[l] = max(0, trial[l]+by)
		}
	}
	return least, price, reduced
}

// at returns the bound at given prices, and fills in the reduced value of each item and the
// remaining copies of each license.
func (n *node) at(price, reduced, slack []int64) int64 {
	sum := n.value
	copy(slack, n.room)
	for l, p := range price {
		sum += p * n.room[l]
	}
	for i := range n.free {
		c := &n.free[i]
		r := c.value
		for _, need := range c.needs {
			r -= price[need.License] * int64(need.Copies)
		}
		reduced[i] = r
		if r > 0 {
			sum += r
			for _, need := range c.needs {
				slack[need.License] -= int64(need.Copies)
			}
		}
	}
	return sum
}

// round derives a choice from a node's prices: it takes items by falling reduced value, as far
// as they fit.
func (b *branch) round(n *node, reduced []int64) {
	order := make([]int32, len(n.free))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(reduced[y], reduced[x]), cmp.Compare(x, y))
	})
	room := append([]int64(nil), n.room...)
	taken, value := append([]int32(nil), n.taken...), n.value
	for _, i := range order {
		c := &n.free[i]
		fits := true
		for _, need := range c.needs {
			fits = fits && int64(need.Copies) <= room[need.License]
		}
		if !fits {
			continue
		}
		for _, need := range c.needs {
			room[need.License] -= int64(need.Copies)
		}
		taken, value = append(taken, c.item), value+c.value
	}
	b.found(taken, value)
}

// mulDiv returns a·b/c, rounded down, for nonnegative numbers, or the largest int64 if the
// result is not below 2^63.
func mulDiv(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high >= uint64(c) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(high, low, uint64(c))
	return int64(min(q, 1<<63-1))
}
