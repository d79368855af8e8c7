package cbf

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// bounds remembers where jobs found their first place, so that those which come
// after need not look before it: what is as wide and as long finds none there
// either, until capacity comes back. With a long queue most of a search is for
// what others have searched for before.
//
// Widths and walltimes are in classes, as wide as a quarter of an octave. The
// highest start of all classes up to one is in a Fenwick tree of two dimensions.
type bounds struct {
	grown uint64 // the profile's when it was begun
	tree  *[widthClasses][walltimeClasses]batch.Time
}

const (
	quarters        = 4
	widthClasses    = 32*quarters + 1
	walltimeClasses = 64*quarters + 1
)

// class returns the last class that begins at n or before it, from 1; n is at
// least 1. exact says that it begins at n.
func class(n uint64) (c int, exact bool) {
	octave := bits.Len64(n) - 1
	quarter := int(n << (63 - octave) << 1 >> 62) // the two bits after the first
	begins := uint64(quarters+quarter) << 61 >> (63 - octave)
	return octave*quarters + quarter + 1, begins == n
}

// begin forgets all when capacity has come back.
func (b *bounds) begin(grown uint64) {
	if b.tree == nil {
		b.tree = new([widthClasses][walltimeClasses]batch.Time)
	} else if b.grown != grown {
		clear(b.tree[:])
	}
	b.grown = grown
}

// of returns an instant before which there is no place of that width and length.
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

// note remembers the first place of that width and length.
func (b *bounds) note(width int32, length batch.Duration, first batch.Time) {
	i, exact := class(uint64(width))
	if !exact { // it is true of what is at least as wide
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
