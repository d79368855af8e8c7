package nodes

import "math/bits"

// bitset is a set of small integers whose least member is found in one step for
// each factor of 64 in its size: a bit of a level says that the word below it
// is not empty.
//
//	levels[1]  …0101
//	levels[0]  …0000 │ 0010 0000 │ 0000 │ 1000 0001
type bitset struct{ levels [][]uint64 }

func newBitset(n int) bitset {
	var b bitset
	for {
		n = (n + 63) / 64
		b.levels = append(b.levels, make([]uint64, n))
		if n <= 1 {
			return b
		}
	}
}

func (b bitset) set(i int) {
	for _, words := range b.levels {
		words[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

func (b bitset) clear(i int) {
	for _, words := range b.levels {
		words[i/64] &^= 1 << (i % 64)
		if words[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// next returns the least member that is not less than i, -1 if there is none.
func (b bitset) next(i int) int {
	words := b.levels[0]
	if i/64 >= len(words) {
		return -1
	}
	if w := words[i/64] >> (i % 64); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	for k := i/64 + 1; k < len(words); k++ {
		if words[k] != 0 {
			return k*64 + bits.TrailingZeros64(words[k])
		}
	}
	return -1
}

// first returns the least member of a set that is not empty.
func (b bitset) first() int {
	i := 0
	for level := len(b.levels) - 1; level >= 0; level-- {
		i = i*64 + bits.TrailingZeros64(b.levels[level][i])
	}
	return i
}
