package roster

import (
	"cmp"
	"container/heap"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// kind is the machines that serve the same jobs at the same speed: a heap by when they are
// free. Entries that are out of date go when they come up.
type kind []vacancy

// vacancy is when a machine is free.
type vacancy struct {
	at      batch.Time
	machine int32
}

func (k *kind) Len() int { return len(*k) }

func (k *kind) Less(i, j int) bool {
	a, b := (*k)[i], (*k)[j]
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.machine, b.machine)) < 0
}

func (k *kind) Swap(i, j int) { (*k)[i], (*k)[j] = (*k)[j], (*k)[i] }

// Push and Pop are container/heap's.
func (k *kind) Push(v any) { *k = append(*k, v.(vacancy)) }

// Pop takes out the last.
func (k *kind) Pop() any {
	last := len(*k) - 1
	v := (*k)[last]
	*k = (*k)[:last]
	return v
}

// put says from when on a machine is free.
func (k *kind) put(at batch.Time, machine int32) { heap.Push(k, vacancy{at, machine}) }

// first returns the machine that is free first. There is an entry for each that is right.
func (k *kind) first(free []batch.Time) int32 {
	for free[(*k)[0].machine] != (*k)[0].at {
		heap.Pop(k)
	}
	return (*k)[0].machine
}

// sort puts the machines into kinds, in the order of their first ones.
func (o *outlook) sort() {
	index := map[string]int32{}
	for m := range o.farm.Machines {
		a := &o.farm.Machines[m]
		key := fmt.Sprint(a.Score, a.CPUs, a.Memory, a.Down, a.Licenses)
		n, known := index[key]
		if !known {
			n = int32(len(o.kinds))
			index[key] = n
			o.kinds = append(o.kinds, nil)
		}
		o.kindOf = append(o.kindOf, n)
		o.kinds[n] = append(o.kinds[n], vacancy{o.free[m], int32(m)}) // all are free now: a heap as it is
	}
}
