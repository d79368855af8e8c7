package bound

import (
	"math/rand/v2"
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
		low, high := s.run()
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
