package profile

import (
	"testing"

	"pgregory.net/rapid"
)

func TestUntilIsTheFirstInstantWithTooLittle(t *testing.T) {
	for _, limit := range []int{0, 4, arrayLimit} {
		rapid.Check(t, func(t *rapid.T) {
			const width, horizon = 8, 40
			p := New(0, width)
			p.limit = limit
			if limit == 0 {
				p.plant()
			}
			for range rapid.IntRange(0, 12).Draw(t, "rectangles") {
				start := Time(rapid.IntRange(0, horizon).Draw(t, "start"))
				end := start.Add(Duration(rapid.IntRange(1, 9).Draw(t, "length")))
				p.Reserve(start, end, rapid.Int32Range(1, 4).Draw(t, "width"))
			}
			p.Trim(Time(rapid.IntRange(0, 5).Draw(t, "trim")))
			from, w := Time(rapid.IntRange(0, horizon).Draw(t, "from")), rapid.Int32Range(1, width).Draw(t, "wanted")
			want := Never
			for at := max(from, p.Origin()); at <= 2*horizon; at++ {
				if p.Free(at) < w {
					want = at
					break
				}
			}
			if got := p.Until(from, w); got != want {
				t.Fatalf("until %d, want %d", got, want)
			}
		})
	}
}
