package cbf

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// bounds remembers the first fits that searches found, as lower bounds for later
// ones: a job at least as wide and as long cannot start earlier until capacity is
// freed. In a long queue most searches repeat earlier ones.
//
// Widths and walltimes fall into classes of a quarter of an octave. A two-dimensional
// Fenwick tree holds the highest start of all classes up to a given one.
type bounds struct {
	grown uint64 // Profile.Grown when the bounds were reset
	tree  *[widthClasses][walltimeClasses]batch.Time
}

const (
	quarters        = 4
	widthClasses    = 32*quarters + 1
	walltimeClasses = 64*quarters + 1
)

// class returns the last class, from 1, that begins at or before n, which is at least
// 1. exact says that it begins at n.
func class(n uint64) (c int, exact bool) {
	octave := bits.Len64(n) - 1
	quarter := int(n << (63 - octave) << 1 >> 62) // the two bits after the first
	begins := uint64(quarters+quarter) << 61 >> (63 - octave)
	return octave*quarters + quarter + 1, begins == n
}

// begin resets the bounds if capacity was freed.
func (b *bounds) begin(grown uint64) {
	if b.tree == nil {
		b.tree = new([widthClasses][walltimeClasses]batch.Time)
	} else if b.grown != grown {
		clear(b.tree[:])
	}
	b.grown = grown
}

// of returns an instant before which a job of that width and length does not fit.
func (b *bounds) of(width int32, length batch.Duration) (first batch.Time) {
	w, _ := class(uint64(width))
	l, _ := class(uint64(length))
	for i := w; i > 0; i &= i - 1 {
		for j := l; j > 0; j &= j - 1 {
			first = max(first, b.tree[i][j])
		}
	}
	return first
}

// note records the first fit of that width and length.
func (b *bounds) note(width int32, length batch.Duration, first batch.Time) {
	i, exact := class(uint64(width))
	if !exact { // the bound holds for jobs at least as wide
		i++
	}
	l, exact := class(uint64(length))
	if !exact {
		l++
	}
	for ; i < widthClasses; i += i & -i {
		for j := l; j < walltimeClasses; j += j & -j {
			b.tree[i][j] = max(b.tree[i][j], first)
		}
	}
}
