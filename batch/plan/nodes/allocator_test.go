package nodes

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// TestAllocatorBooksLikeAnArray compares with an array of free shares that is
// searched from its beginning.
func TestAllocatorBooksLikeAnArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p batch.Platform
		var free []int64
		for _, n := range rapid.SliceOfN(rapid.Int32Range(1, 3), 1, 300).Draw(t, "nodes") {
			p.Nodes = append(p.Nodes, batch.Node{Processors: n})
			free = append(free, int64(n)*int64(batch.One))
		}
		a := New(p)
		var booked [][]batch.NodeAllocation
		whole := func() (n int64) {
			for _, f := range free {
				n += f / int64(batch.One)
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"pick": func(t *rapid.T) {
				width := rapid.Int32Range(1, p.Width()).Draw(t, "width")
				got := a.Pick(width)
				if int64(width) > whole() {
					if got != nil {
						t.Fatalf("picked %v with %d free", got, whole())
					}
					return
				}
				var want []batch.NodeAllocation
				for i := 0; width > 0; i++ {
					if n := min(width, int32(free[i]/int64(batch.One))); n > 0 {
						want = append(want, batch.NodeAllocation{Node: int32(i), Processors: n, Share: batch.One})
						free[i] -= int64(n) * int64(batch.One)
						width -= n
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("picked %v, want %v", got, want)
				}
				booked = append(booked, got)
			},
			"take": func(t *rapid.T) {
				var allocation []batch.NodeAllocation
				ok := true
				after := slices.Clone(free)
				for range rapid.IntRange(1, 4).Draw(t, "allocation") {
					l := batch.NodeAllocation{
						Node:       rapid.Int32Range(-1, int32(len(free))).Draw(t, "node"),
						Processors: rapid.Int32Range(0, 3).Draw(t, "processors"),
						Share:      batch.Share(rapid.Int32Range(0, 5).Draw(t, "quarters")) * batch.One / 4,
					}
					allocation = append(allocation, l)
					if l.Node < 0 || int(l.Node) >= len(free) || l.Processors < 1 || l.Share < 1 || l.Share > batch.One {
						ok = false
						continue
					}
					after[l.Node] -= int64(l.Processors) * int64(l.Share)
					ok = ok && after[l.Node] >= 0
				}
				if got := a.Take(allocation); got != ok {
					t.Fatalf("take %v: %v, want %v", allocation, got, ok)
				}
				if ok {
					free = after
					booked = append(booked, allocation)
				}
			},
			"release": func(t *rapid.T) {
				if len(booked) == 0 {
					t.Skip("nothing is booked")
				}
				i := rapid.IntRange(0, len(booked)-1).Draw(t, "which")
				for _, l := range booked[i] {
					free[l.Node] += int64(l.Processors) * int64(l.Share)
				}
				a.Release(booked[i])
				booked = slices.Delete(booked, i, i+1)
			},
			"": func(t *rapid.T) {
				if a.spare != whole() || !slices.Equal(a.free, free) {
					t.Fatalf("%d whole processors free, want %d", a.spare, whole())
				}
			},
		})
	})
}
