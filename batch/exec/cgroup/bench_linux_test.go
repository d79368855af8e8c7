package cgroup

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// BenchmarkEnforcement measures the accuracy of each way to enforce a share, with a
// single-threaded busy program at a share of one processor for CGROUP_BENCH_TIME (5s). The
// machine must be idle enough for that share.
//
//	go test -run - -bench Enforcement -benchtime 1x ./cgroup
func BenchmarkEnforcement(b *testing.B) {
	length := 5 * time.Second
	if text := os.Getenv("CGROUP_BENCH_TIME"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			b.Fatal(err)
		}
	}
	for _, way := range ways {
		if way.old {
			continue // the quota is the same
		}
		for _, percent := range []int{5, 10, 20, 30, 50, 70, 80, 90, 95} {
			b.Run(fmt.Sprintf("%s/%d", way.name, percent), func(b *testing.B) {
				h := host(b, way.without...)
				if got := h.Offers().Of(Shares); got != way.shares[0] && got != way.shares[len(way.shares)-1] {
					b.Skipf("this host has no such way: %s", h.Offers()[Shares])
				}
				g := newTestGroup(b, h, "job")
				if _, err := g.SetShare(Processor * CPU(percent) / 100); err != nil {
					b.Fatal(err)
				}
				run(b, g, "spin 1")
				used(b, g, 500*time.Millisecond)
				var sum float64
				for b.Loop() {
					sum += used(b, g, length)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(100*sum/float64(b.N), "%got")
			})
		}
	}
}

// BenchmarkSetShare changes the share of one of n groups. Changing all of them each second
// costs n times as much.
func BenchmarkSetShare(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			h := host(b, Memory)
			need(b, h, Shares)
			groups := make([]*Group, n)
			for i := range groups {
				groups[i] = newTestGroup(b, h, "job-"+strconv.Itoa(i))
			}
			b.ResetTimer()
			before, _ := processClock(os.Getpid())
			for i := range b.N {
				share := Processor/4 + CPU(i/n%2)*Processor/4
				if _, err := groups[i%n].SetShare(share); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			after, _ := processClock(os.Getpid())
			b.ReportMetric(float64((after-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkUse measures one group.
func BenchmarkUse(b *testing.B) {
	h := host(b)
	need(b, h, Shares)
	g := newTestGroup(b, h, "job")
	for b.Loop() {
		if _, err := g.Use(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDuty measures the cost of the duty cycles of n groups of signals: the processor
// time of this process in each second.
func BenchmarkDuty(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			h := host(b, signals...)
			for i := range n {
				g := newTestGroup(b, h, "job-"+strconv.Itoa(i))
				if _, err := g.SetShare(Processor / CPU(2*n)); err != nil {
					b.Fatal(err)
				}
				run(b, g, "spin 1")
			}
			var cost time.Duration
			for b.Loop() {
				before, _ := processClock(os.Getpid())
				<-time.After(3 * time.Second)
				after, _ := processClock(os.Getpid())
				cost += (after - before) / 3
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(cost.Microseconds())/float64(b.N), "µs-cpu/s")
		})
	}
}
