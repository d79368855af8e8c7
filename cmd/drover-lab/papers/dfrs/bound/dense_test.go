package bound

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// dense is an instance in which most jobs overlap; rapid prefers easy ones.
func dense(r *rand.Rand, jobs int) drawn {
	d := drawn{
		capacity:  2 + r.Int64N(9),
		threshold: tick * batch.Duration(r.IntN(4)),
	}
	for range jobs {
		length := 1 + r.Int64N(5)
		if r.IntN(4) == 0 {
			length *= 8
		}
		rate := 1 + r.Int64N(2)
		if r.IntN(3) == 0 {
			rate = 1 + r.Int64N(d.capacity)
		}
		d.jobs = append(d.jobs, Job{
			Release: batch.Time(tick) * batch.Time(r.IntN(2*jobs)),
			Length:  tick * batch.Duration(length),
			Rate:    rate,
		})
	}
	return d
}

func TestThousandsOfCrowdedInstancesAgreeWithTheFullNetwork(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 31))
	moved, steps := 0, 0
	for i := range 4000 {
		jobs := 4 + r.IntN(12)
		if i%100 == 0 {
			jobs = 50
		}
		d := dense(r, jobs)
		in, err := prepare(d.jobs, d.capacity, d.threshold)
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(in)
		low, high, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		steps = max(steps, s.tests)
		if low > one && byFlow(d.jobs, d.capacity, d.threshold, low) {
			t.Fatalf("%+v: %d/2^20 is possible and said to be too small", d, low)
		}
		if !byFlow(d.jobs, d.capacity, d.threshold, high) {
			t.Fatalf("%+v: %d/2^20 is not possible and said to be so", d, high)
		}
		if s.network.flow.phases > 0 {
			moved++
		}
	}
	if moved < 100 {
		t.Errorf("work had to be moved in %d instances: they are too easy to tell anything", moved)
	}
	t.Logf("work had to be moved in %d instances; at most %d tests each", moved, steps)
}

func TestOtherSearchesFindTheSameBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*search)
	}{
		{"by halving", func(s *search) { s.tests = patience }},
		{"in short cells", func(s *search) { s.in.longest = 3 * one / 2 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 32))
			for range 500 {
				d := dense(r, 4+r.IntN(20))
				in, err := prepare(d.jobs, d.capacity, d.threshold)
				if err != nil {
					t.Fatal(err)
				}
				low, high, err := newSearch(in).run()
				if err != nil {
					t.Fatal(err)
				}
				other := newSearch(in)
				c.change(other)
				l, h, err := other.run()
				if l != low || h != high || err != nil {
					t.Fatalf("%+v: from %d to %d, %v, want %d to %d", d, l, h, err, low, high)
				}
				for _, length := range other.cells.length {
					if length > other.in.longest {
						t.Fatalf("%+v: a cell of %d, longer than %d", d, length, other.in.longest)
					}
				}
			}
		})
	}
}

// BenchmarkCrowded bounds jobs that are all in each other's way, the worst case
// for the size of the network.
func BenchmarkCrowded(b *testing.B) {
	for _, n := range []int{100, 1000, 4000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(7, 33))
			var jobs []Job
			for range n {
				jobs = append(jobs, seconds(r.Int64N(10_000), 1+r.Int64N(10_000), 1+r.Int64N(64)))
			}
			for b.Loop() {
				if _, err := MaxStretch(jobs, 128, 10*batch.Second); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
