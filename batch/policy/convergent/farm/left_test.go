package farm

import (
	"slices"
	"testing"
)

func TestLeftCountsFloatingCopies(t *testing.T) {
	s := small() // two copies of cad, and solver, which is bound
	left := Left{9}.All(s)
	one := &Job{Licenses: []Need{{0, 1}, {1, 3}}}
	if !left.Enough(s, one) || !left.Enough(s, &Job{Licenses: []Need{{0, 2}, {1, 99}}}) ||
		left.Enough(s, &Job{Licenses: []Need{{0, 3}}}) {
		t.Errorf("of %v two copies of the first are enough and three are not; the second is not counted", left)
	}
	left.Take(s, one)
	if want := (Left{1, 3, 0}); !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
	left.Take(s, one)
	left.Take(s, one) // running jobs hold theirs, even if there are not enough copies
	if left.Enough(s, one) || left[0] != -1 {
		t.Errorf("left are %v", left)
	}
	for range 3 {
		left.Give(s, one)
	}
	if !slices.Equal(left, Left{}.All(s)) {
		t.Errorf("left are %v, want all", left)
	}
}
