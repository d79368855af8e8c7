package client

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// What a site announces need not be what it sends.
func TestASlotChangesOnlyWhenTheOutputIsComplete(t *testing.T) {
	two := Output{Argument: "x", Element: Int32, Dimensions: []int64{2}, Size: 8}
	v := []int32{7}
	s := slotOf(&v)
	if err := s.begin(two); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Write([]byte{1, 0, 0, 0, 2})
	wantReason(t, "a part", s.end(), problem.Internal)
	if len(v) != 1 || v[0] != 7 {
		t.Errorf("it has become %v", v)
	}
	if _, err := s.Write([]byte{0, 0, 0}); err != nil || s.end() != nil || len(v) != 2 || v[1] != 2 {
		t.Errorf("%v, %v", v, err)
	}
	for name, o := range map[string]Output{
		"a size of its own":   {Element: Int32, Dimensions: []int64{2}, Size: 9},
		"too many elements":   {Element: Int32, Dimensions: []int64{1 << 62}, Size: 8},
		"fewer than none":     {Element: Int32, Dimensions: []int64{-1}, Size: -4},
		"no dimensions known": {Element: Int32, Size: 8},
		"a file":              {Size: 8},
		"another type":        {Element: Float32, Dimensions: []int64{2}, Size: 8},
		"a matrix":            {Element: Int32, Dimensions: []int64{1, 2}, Size: 8},
	} {
		if err := slotOf(new([]int32)).begin(o); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
