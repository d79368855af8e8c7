package license

// Result is the result of BranchAndBound.
type Result struct {
	Value  int64 // sum of the values of all kept items
	Bound  int64 // no choice is worth more
	Nodes  int64 // number of visited nodes
	Proven bool  // no choice is better than Value; false only if the node limit was reached
}

// BranchAndBound fills keep with the items of the largest total value. The choice is exact
// unless the search reaches the limit of nodes (at least 1); then keep is the best choice
// found, and Result says so. Greedy is measured against it. The sum of all values and the worth
// of one copy of a license must be below 2^50.
//
// The bound of a node is the Lagrangian bound: each copy has a price, each item is taken if its
// value exceeds the prices of the copies that it requests, and the remaining copies are
// charged. Each node searches for integer prices by subgradients, starting from those of its
// parent. An item is decided at once if reversing its decision would lower the bound to the
// best known choice.
func (k *Knapsack) BranchAndBound(items []Item, copies []int64, nodes int64, keep []bool) Result {
	k.Greedy(items, copies, keep)
	k.load(items, copies)
	nodes = max(1, nodes)
	b := &branch{keep: keep, nodes: nodes, of: make([]int, len(copies))}
	for l := range k.demand {
		b.of[l] = int(none)
		if k.critical(int32(l)) {
			b.of[l] = len(b.room)
			b.room = append(b.room, k.room[l])
		}
	}
	for i := range items {
		if keep[i] {
			b.best += items[i].Value
		}
		switch {
		case items[i].Kept:
			b.fixed += items[i].Value
		case !k.out[i]:
			if needs := b.critical(items[i].Needs); len(needs) > 0 {
				b.free = append(b.free, choice{items[i].Value, needs, int32(i)})
			} else {
				b.fixed += items[i].Value
			}
		}
	}
	root := node{free: b.free, room: b.room, value: b.fixed, price: make([]int64, len(b.room))}
	bound := b.visit(&root, rootSteps)
	r := Result{Value: b.best, Bound: bound, Nodes: b.seen, Proven: b.seen <= nodes}
	if r.Proven {
		r.Bound = r.Value
	}
	return r
}

// branch is the state of one search.
type branch struct {
	keep  []bool // the best choice; it includes items without critical licenses from the start
	best  int64  // its value
	of    []int  // the constraint of each license, or none
	room  []int64
	free  []choice // items that request critical licenses
	fixed int64    // the value of all other kept items

	nodes, seen int64
}

// choice is an item that can be taken or left out.
type choice struct {
	value int64
	needs []Need // for critical licenses, by constraint
	item  int32
}

// node is a subproblem.
type node struct {
	free  []choice
	taken []int32
	room  []int64
	value int64 // of the taken items
	price []int64
}

const (
	rootSteps = 400 // subgradient steps
	steps     = 40
)

// critical returns the needs of critical licenses, by constraint.
func (b *branch) critical(needs []Need) []Need {
	var c []Need
	for _, n := range needs {
		if at := b.of[n.License]; at != int(none) {
			c = append(c, Need{int32(at), n.Copies})
		}
	}
	return c
}

// visit searches a node for a better choice, and returns the node's bound.
func (b *branch) visit(n *node, search int) int64 {
	if b.seen++; b.seen > b.nodes {
		return n.value
	}
	n.drop()
	if n.easy() {
		for _, c := range n.free {
			n.taken = append(n.taken, c.item)
			n.value += c.value
		}
		b.found(n.taken, n.value)
		return n.value
	}
	bound, price, reduced := n.bound(b.best, search)
	if bound <= b.best {
		return bound
	}
	n.price = price
	b.round(n, reduced)
	if bound <= b.best {
		return bound
	}
	// Branch on the item with the reduced value closest to 0: the bound decides it least.
	pick, least := -1, int64(0)
	var undecided []int
	for i := range n.free {
		if by := max(reduced[i], -reduced[i]); bound-by > b.best {
			undecided = append(undecided, i)
			if pick < 0 || by < least {
				pick, least = i, by
			}
		}
	}
	for _, first := range []bool{true, false} {
		child := node{room: append([]int64(nil), n.room...), value: n.value, price: append([]int64(nil), price...)}
		child.taken = append(child.taken, n.taken...)
		possible, at := true, 0
		for i := range n.free {
			take := reduced[i] > 0
			if at < len(undecided) && undecided[at] == i {
				at++
				if i != pick {
					child.free = append(child.free, n.free[i])
					continue
				}
				take = first
			}
			if take {
				possible = child.take(n.free[i]) && possible
			}
		}
		if possible && b.seen <= b.nodes {
			b.visit(&child, steps)
		}
		if pick < 0 {
			break
		}
	}
	return bound
}

// take takes an item and reports whether it fits.
func (n *node) take(c choice) bool {
	n.value += c.value
	n.taken = append(n.taken, c.item)
	ok := true
	for _, need := range c.needs {
		n.room[need.License] -= int64(need.Copies)
		ok = ok && n.room[need.License] >= 0
	}
	return ok
}

// drop removes items that no longer fit.
func (n *node) drop() {
	kept := n.free[:0:0]
	for _, c := range n.free {
		fits := true
		for _, need := range c.needs {
			fits = fits && int64(need.Copies) <= n.room[need.License]
		}
		if fits {
			kept = append(kept, c)
		}
	}
	n.free = kept
}

// easy reports whether all items can be taken.
func (n *node) easy() bool {
	room := append([]int64(nil), n.room...)
	for _, c := range n.free {
		for _, need := range c.needs {
			if room[need.License] -= int64(need.Copies); room[need.License] < 0 {
				return false
			}
		}
	}
	return true
}

// found records a choice if it is better than the best.
func (b *branch) found(taken []int32, value int64) {
	if value <= b.best {
		return
	}
	b.best = value
	for _, c := range b.free {
		b.keep[c.item] = false
	}
	for _, i := range taken {
		b.keep[i] = true
	}
}
