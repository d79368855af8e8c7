package reallocation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// BenchmarkRound makes one round over full sites of 64 to 319 processors, with jobs
// that wait at them, most of them at every third.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct{ sites, jobs int }{{10, 1000}, {100, 10_000}} {
		for a := reallocation.Regular; a <= reallocation.AllCancellation; a++ {
			for _, h := range []string{"mct", "minmin", "minmin-alike"} {
				b.Run(fmt.Sprintf("%dx%d/%v/%v", size.sites, size.jobs, a, h), func(b *testing.B) {
					name, alike := strings.CutSuffix(h, "-alike")
					heuristic, _ := reallocation.ParseHeuristic(name)
					var record reallocation.Record
					var used float64
					for range b.N {
						b.StopTimer()
						g := crowded(b, size.sites, size.jobs, 64, 1)
						g.alike = alike
						b.StartTimer()
						before := cpu()
						record = g.run(reallocation.Config{
							Algorithm: a, Heuristic: heuristic, Window: reallocation.All, Threshold: batch.Minute,
							Patience: 3,
						}, nil)
						used += cpu() - before
					}
					b.ReportMetric(used/float64(b.N), "cpu-s/op")
					b.ReportMetric(float64(record.Asks), "asks/op")
					b.ReportMetric(float64(record.Estimates), "estimates/op")
					b.ReportMetric(float64(record.Moves), "moves/op")
				})
			}
		}
	}
}

// cpu returns the seconds of all processors that this process has used.
func cpu() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func crowded(b testing.TB, sites, jobs int, widths int32, seed uint64) *grid {
	random := rand.New(rand.NewPCG(seed, 1))
	var sizes []int32
	for range sites {
		sizes = append(sizes, int32(64+random.IntN(256)))
	}
	g := newGrid(b, sizes...)
	for s, w := range sizes {
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
		g.wait(s, rigid(64/widths*(1+random.Int32N(widths)), int64(60+random.IntN(36_000))))
	}
	return g
}
