package nodes

import (
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// BenchmarkPick books and releases on machines of many nodes whose low ones are
// taken.
func BenchmarkPick(b *testing.B) {
	for _, nodes := range []int32{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			a := New(batch.Processors(nodes))
			a.Pick(nodes - 8)
			for b.Loop() {
				a.Release(a.Pick(4))
			}
		})
	}
}
