package reallocation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// BenchmarkRound makes one round over full sites of 64 to 319 processors, with jobs
// that wait at them, most of them at every third.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct{ sites, jobs int }{{10, 1000}, {100, 10_000}} {
		for a := reallocation.Regular; a <= reallocation.AllCancellation; a++ {
			for _, h := range []reallocation.Heuristic{reallocation.MCT, reallocation.MinMin} {
				b.Run(fmt.Sprintf("%dx%d/%v/%v", size.sites, size.jobs, a, h), func(b *testing.B) {
					var record reallocation.Record
					for range b.N {
						b.StopTimer()
						g := crowded(b, size.sites, size.jobs)
						b.StartTimer()
						record = g.run(reallocation.Config{Algorithm: a, Heuristic: h, Window: reallocation.All, Threshold: batch.Minute, Patience: 3}, nil)
					}
					b.ReportMetric(float64(record.Estimates), "estimates/op")
					b.ReportMetric(float64(record.Moves), "moves/op")
				})
			}
		}
	}
}

func crowded(b *testing.B, sites, jobs int) *grid {
	random := rand.New(rand.NewPCG(1, 1))
	var widths []int32
	for range sites {
		widths = append(widths, int32(64+random.IntN(256)))
	}
	g := newGrid(b, widths...)
	for s, w := range widths {
		for used := int32(0); used < w; {
			n := min(w-used, 1+random.Int32N(32))
			g.submit(s, batch.Shape{Width: n, Walltime: batch.Duration(600+random.IntN(36_000)) * batch.Second}, nil)
			used += n
		}
	}
	for range jobs {
		s := random.IntN(sites)
		if random.IntN(4) > 0 {
			s -= s % 3
		}
		g.wait(s, rigid(1+random.Int32N(64), int64(60+random.IntN(36_000))))
	}
	return g
}
