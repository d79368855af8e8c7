package profile

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var sizes = []int{100, 1000, 10_000, 100_000, 1_000_000}

// saw returns a profile with a number of steps and a dip at every second step. Width 600
// fits only at the end.
func saw(steps int) *Profile {
	p := New(0, 640)
	for i := range Time(steps / 2) {
		p.Reserve(i*200+100, i*200+200, int32(100+i%400))
	}
	return p
}

func BenchmarkReserveRelease(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			p := saw(n)
			r := rand.New(rand.NewPCG(1, 2))
			starts := make([]Time, 1024)
			for i := range starts {
				starts[i] = 1 + Time(r.Int64N(int64(n)*100))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s := starts[i%len(starts)]
				p.Reserve(s, s+1234, 3)
				p.Release(s, s+1234, 3)
			}
		})
	}
}

// BenchmarkFitOneDip fits a job behind a plan that is always too full: one search over all
// steps for the first one with enough capacity.
func BenchmarkFitOneDip(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			p := New(0, 640)
			for i := range Time(n) {
				p.Reserve(i*100, i*100+100, int32(100+i%2))
			}
			b.ReportAllocs()
			for b.Loop() {
				if p.Fit(0, 1000, 600) == Never {
					b.Fatal("no fit")
				}
			}
		})
	}
}

// BenchmarkFitTenDips skips ten dips in the middle of the plan.
func BenchmarkFitTenDips(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			p := New(0, 640)
			const dips = 10
			gap := max(n/dips/2, 1)
			at := Time(0)
			for range dips { // long stretches of small steps, then a dip
				for i := range Time(gap) {
					p.Reserve(at+i*10, at+i*10+10, int32(1+i%2))
				}
				at += Time(gap) * 10
				p.Reserve(at, at+10, 640)
				at += 10
			}
			d := Duration(gap)*10 + 11
			b.ReportAllocs()
			for b.Loop() {
				if p.Fit(0, d, 600) != at {
					b.Fatal("wrong fit")
				}
			}
		})
	}
}

func BenchmarkSweep640(b *testing.B) {
	for _, n := range sizes[:4] {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			p := saw(n)
			var s Sweep
			widths, durations, starts := make([]int32, 640), make([]Duration, 640), make([]Time, 640)
			for i := range widths {
				widths[i] = int32(i + 1)
				durations[i] = Duration(100_000 / (i + 1))
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Starts(p, 0, widths, durations, starts)
			}
		})
	}
}
