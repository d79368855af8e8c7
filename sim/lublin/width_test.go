package lublin

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// widthShares is the model in formulas: the share of each width.
func widthShares(p *parameters, w *widths, procs int) []float64 {
	uniform := func(x, from, to float64) float64 { return min(max((x-from)/(to-from), 0), 1) }
	cdf := func(x float64) float64 {
		return p.first*uniform(x, w.low, w.middle) + (1-p.first)*uniform(x, w.middle, w.high)
	}
	powers, others := make([]float64, procs+1), make([]float64, procs+1)
	sumPowers, sumOthers := 0., 0.
	for n := 1; n <= int(w.widest); n++ {
		if bits.OnesCount(uint(n)) == 1 {
			k := math.Log2(float64(n))
			powers[n] = cdf(k+0.5) - cdf(k-0.5)
		}
		others[n] = cdf(math.Log2(float64(n)+0.5)) - cdf(math.Log2(float64(n)-0.5))
		sumPowers += powers[n]
		sumOthers += others[n]
	}
	shares := make([]float64, procs+1)
	for n := range shares {
		shares[n] = p.powerOfTwo*powers[n]/sumPowers + (1-p.serial-p.powerOfTwo)*others[n]/sumOthers
	}
	shares[1] += p.serial
	return shares
}

func TestWidthsAreDistributedAsTheModelSays(t *testing.T) {
	eachClass(t, func(t *testing.T, p *parameters) {
		for _, procs := range []int{8, 45, 100, 128, 256, 1000} {
			t.Run(fmt.Sprint(procs), func(t *testing.T) {
				w, r := fit(p, procs), newRandom(uint64(procs))
				got := make([]float64, procs+1)
				for range draws {
					got[w.draw(r)]++
				}
				want := widthShares(p, &w, procs)
				for n := range want {
					want[n] *= draws
				}
				wantFrequencies(t, got, want)
			})
		}
	})
}

func TestWidthsFitTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, MaxProcs)).Draw(t, "procs")
		p := rapid.SampledFrom([]*parameters{&allJobs, &batchJobs, &interactiveJobs}).Draw(t, "class")
		w, r := fit(p, procs), newRandom(rapid.Uint64().Draw(t, "seed"))
		if w.low > w.middle || w.middle > w.high {
			t.Fatalf("uniforms %g to %g to %g", w.low, w.middle, w.high)
		}
		for range 100 {
			if n := w.draw(r); n < 1 || int(n) > procs {
				t.Fatalf("%d of %d processors", n, procs)
			}
		}
	})
}

func TestTheUniformsOfAMachineAreTiedToItsSize(t *testing.T) {
	for _, c := range []struct {
		class             *parameters
		procs             int
		low, middle, high float64
		widest            int32
	}{
		{&allJobs, 128, 0.8, 4.5, 7, 128},      // as published
		{&batchJobs, 128, 1.2, 5, 7, 128},      // as published
		{&interactiveJobs, 128, 1, 3, 5.5, 45}, // as published
		{&allJobs, 256, 0.8, 5.5, 8, 256},
		{&interactiveJobs, 512, 1, 5, 7.5, 181},
		{&allJobs, 8, 0.8, 0.8 + 2.2/3, 3, 8},
		{&batchJobs, 2, 1, 1, 1, 2},
		{&interactiveJobs, 2, 1, 1, 1, 2},
	} {
		w := fit(c.class, c.procs)
		far := math.Abs(w.low-c.low) + math.Abs(w.middle-c.middle) + math.Abs(w.high-c.high)
		if far > 1e-12 || w.widest != c.widest {
			t.Errorf("%s on %d: %g, %g, %g, widest %d; want %g, %g, %g, %d",
				c.class.name, c.procs, w.low, w.middle, w.high, w.widest, c.low, c.middle, c.high, c.widest)
		}
	}
}
