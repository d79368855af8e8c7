package license

import (
	"cmp"
	"math/big"
	"slices"
)

// naiveClusters builds clusters from scratch.
func naiveClusters(copies []int64, jobs map[int64][]Need) []Cluster {
	demand := make([]int64, len(copies))
	for _, needs := range jobs {
		for _, n := range needs {
			demand[n.License] += int64(n.Copies)
		}
	}
	parent := make([]int32, len(copies))
	for l := range parent {
		parent[l] = int32(l)
	}
	var root func(l int32) int32
	root = func(l int32) int32 {
		if parent[l] != l {
			return root(parent[l])
		}
		return l
	}
	critical := func(l int32) bool { return demand[l] > copies[l] }
	for _, needs := range jobs {
		for _, a := range needs {
			for _, b := range needs {
				if critical(a.License) && critical(b.License) {
					parent[root(a.License)] = root(b.License)
				}
			}
		}
	}
	by := map[int32]*Cluster{}
	var list []Cluster
	for l := range int32(len(copies)) {
		if critical(l) {
			if by[root(l)] == nil {
				by[root(l)] = &Cluster{}
			}
			by[root(l)].Licenses = append(by[root(l)].Licenses, l)
		}
	}
	for order, needs := range jobs {
		for _, n := range needs {
			if critical(n.License) {
				c := by[root(n.License)]
				c.Jobs = append(c.Jobs, order)
				break
			}
		}
	}
	for _, c := range by {
		slices.Sort(c.Jobs)
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Cluster) int { return cmp.Compare(a.Licenses[0], b.Licenses[0]) })
	return list
}

// feasible reports whether all kept items stay and the others fit into the remaining copies.
func feasible(items []Item, copies []int64, keep []bool) bool {
	room := slices.Clone(copies)
	for i := range items {
		if items[i].Kept {
			if !keep[i] {
				return false
			}
			for _, n := range items[i].Needs {
				room[n.License] -= int64(n.Copies)
			}
		}
	}
	for i := range items {
		if keep[i] && !items[i].Kept {
			for _, n := range items[i].Needs {
				if room[n.License] -= int64(n.Copies); room[n.License] < 0 {
					return false
				}
			}
		}
	}
	return true
}

func valueOf(items []Item, keep []bool) int64 {
	var sum int64
	for i := range items {
		if keep[i] {
			sum += items[i].Value
		}
	}
	return sum
}

// tryAll tries all choices.
func tryAll(items []Item, copies []int64) int64 {
	best := int64(-1)
	keep := make([]bool, len(items))
	for set := range 1 << len(items) {
		for i := range items {
			keep[i] = set>>i&1 == 1
		}
		if feasible(items, copies, keep) {
			best = max(best, valueOf(items, keep))
		}
	}
	return best
}

// plainGreedy recomputes all unit costs in fractions before each discard.
func plainGreedy(items []Item, copies []int64) []bool {
	room := slices.Clone(copies)
	keep := slices.Repeat([]bool{true}, len(items))
	for _, it := range items {
		if it.Kept {
			for _, n := range it.Needs {
				room[n.License] -= int64(n.Copies)
			}
		}
	}
	fits := func(it Item, room []int64) bool {
		return !slices.ContainsFunc(it.Needs, func(n Need) bool { return int64(n.Copies) > room[n.License] })
	}
	for i, it := range items {
		keep[i] = it.Kept || fits(it, room)
	}
	var gone []int
	for {
		demand := make([]int64, len(copies))
		for i, it := range items {
			if keep[i] && !it.Kept {
				for _, n := range it.Needs {
					demand[n.License] += int64(n.Copies)
				}
			}
		}
		worst := -1
		var cost *big.Rat
		for i, it := range items {
			if !keep[i] || it.Kept {
				continue
			}
			weight := new(big.Rat)
			for _, n := range it.Needs {
				if demand[n.License] > room[n.License] {
					part := big.NewInt(int64(n.Copies) << 32) // fractions are rounded to this unit
					part.Div(part, big.NewInt(room[n.License]))
					weight.Add(weight, new(big.Rat).SetInt(part))
				}
			}
			if weight.Sign() == 0 {
				continue
			}
			if c := new(big.Rat).Quo(big.NewRat(it.Value, 1), weight); worst < 0 || c.Cmp(cost) <= 0 {
				worst, cost = i, c
			}
		}
		if worst < 0 {
			for i, it := range items {
				if keep[i] && !it.Kept {
					for _, n := range it.Needs {
						room[n.License] -= int64(n.Copies)
					}
				}
			}
			break
		}
		keep[worst] = false
		gone = append(gone, worst)
	}
	for _, i := range slices.Backward(gone) {
		if fits(items[i], room) {
			keep[i] = true
			for _, n := range items[i].Needs {
				room[n.License] -= int64(n.Copies)
			}
		}
	}
	return keep
}
