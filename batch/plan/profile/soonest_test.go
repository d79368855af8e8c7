package profile

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestSoonestIsTheShapeThatEndsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const capacity = 12
		p := New(0, capacity)
		p.limit = rapid.SampledFrom([]int{0, arrayLimit}).Draw(t, "limit") // 0: a tree from the first change on
		for range rapid.IntRange(0, 25).Draw(t, "rectangles") {
			start := Time(rapid.IntRange(0, 60).Draw(t, "start"))
			end := start.Add(Duration(rapid.IntRange(1, 40).Draw(t, "length")))
			// Bookings can exceed the capacity after node failures.
			p.Reserve(start, end, min(int32(rapid.IntRange(1, capacity).Draw(t, "width")), p.Free(start)+1))
		}
		if rapid.IntRange(0, 3).Draw(t, "endless") == 0 {
			p.Reserve(80, Never, int32(rapid.IntRange(1, capacity).Draw(t, "for good")))
		}
		for range 8 {
			soonestLikeFits(t, p, Time(rapid.IntRange(0, 100).Draw(t, "from")))
		}
	})
}

// soonestLikeFits draws shapes and compares Soonest with a Fit for each shape.
func soonestLikeFits(t *rapid.T, p *Profile, from Time) {
	var widths []int32
	var durations []Duration
	w, d := int32(0), Duration(rapid.IntRange(3, 90).Draw(t, "alone"))
	steady := rapid.Bool().Draw(t, "all widths")
	for range rapid.IntRange(0, 14).Draw(t, "shapes") {
		if w++; !steady {
			w += int32(rapid.IntRange(-1, 2).Draw(t, "wider"))
		}
		if d -= 1 + Duration(rapid.IntRange(0, 12).Draw(t, "faster")); d < 1 {
			break
		}
		widths, durations = append(widths, w), append(durations, d)
	}
	beyond, by := rapid.IntRange(0, 20).Draw(t, "end beyond time"), Duration(rapid.IntRange(0, 100).Draw(t, "by"))
	for i := range min(max(0, beyond-8), len(durations)) {
		durations[i] = Forever - by - Duration(i)
	}
	want, start, end := 0, Never, Never
	for i := range widths {
		at := p.Fit(from, durations[i], widths[i])
		if at != Never && (start == Never || at.Add(durations[i]) < end) {
			want, start, end = i, at, at.Add(durations[i])
		}
	}
	var s Soonest
	for range 2 { // the second time with used scratch
		if got, at := s.Of(p, from, widths, durations); got != want || at != start {
			t.Fatalf("from %d, %d for %d: shape %d at %d, want %d at %d", from, widths, durations, got, at, want, start)
		}
	}
}

func BenchmarkSoonest640(b *testing.B) {
	for _, n := range sizes[:4] {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			p := saw(n)
			var s Soonest
			widths, durations := make([]int32, 640), make([]Duration, 640)
			for i := range widths {
				widths[i] = int32(i + 1)
				durations[i] = Duration(1_000_000/(i+1) - i)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Of(p, 0, widths, durations)
			}
		})
	}
}
