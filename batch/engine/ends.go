package engine

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// end is when a job will end if nothing changes.
type end struct {
	at  batch.Time
	seq uint32 // order within an instant
	job batch.Handle
}

func (a end) before(b end) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// ends is a heap of four-way nodes: half as deep as a binary one, and the four
// children share a cache line.
type ends []end

func (h *ends) push(x end) {
	a := append(*h, x)
	i := len(a) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !x.before(a[up]) {
			break
		}
		a[i] = a[up]
		i = up
	}
	a[i] = x
	*h = a
}

func (h *ends) pop() end {
	a := *h
	top, n := a[0], len(a)-1
	x := a[n]
	a = a[:n]
	*h = a
	if n > 0 {
		h.sink(0, x)
	}
	return top
}

// keep drops the entries that are not to stay.
func (h *ends) keep(stays func(end) bool) {
	a := slices.DeleteFunc(*h, func(x end) bool { return !stays(x) })
	*h = a
	for i := (len(a) - 2) / 4; i >= 0 && len(a) > 1; i-- {
		h.sink(i, a[i])
	}
}

// sink puts x at i, or below it.
func (h *ends) sink(i int, x end) {
	a, n := *h, len(*h)
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for k := first + 1; k < min(first+4, n); k++ {
			if a[k].before(a[least]) {
				least = k
			}
		}
		if !a[least].before(x) {
			break
		}
		a[i] = a[least]
		i = least
	}
	a[i] = x
}
