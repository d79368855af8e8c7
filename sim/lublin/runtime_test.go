package lublin

import (
	"fmt"
	"math"
	"testing"
)

// runtimeCDF is the model in a formula: the probability of a runtime of at most
// so many whole seconds.
func runtimeCDF(p *parameters, width int32) func(seconds float64) float64 {
	share := min(max(p.base+p.slope*float64(width), 0), 1)
	mixture := func(x float64) float64 {
		return share*gammaOf(p.shortShape, p.shortScale).CDF(x) + (1-share)*gammaOf(p.longShape, p.longScale).CDF(x)
	}
	return func(seconds float64) float64 {
		return mixture(min(math.Log(seconds+1), maxLogRuntime)) / mixture(maxLogRuntime)
	}
}

func TestRuntimesAreDistributedAsTheModelSays(t *testing.T) {
	eachClass(t, func(t *testing.T, p *parameters) {
		for _, width := range []int32{1, 16, 64, 1000} {
			t.Run(fmt.Sprint(width), func(t *testing.T) {
				runtimes, r := newRuntimes(p), newRandom(uint64(width))
				sample, longest := make([]float64, draws), 0
				for i := range sample {
					run := runtimes.draw(r, width)
					if run < 1 || run > MaxRuntime {
						t.Fatalf("%d s", run)
					}
					sample[i] = float64(run)
					if run == MaxRuntime {
						longest++
					}
				}
				if longest > 1 { // what is beyond the limit is drawn again, not cut
					t.Errorf("%d jobs of the longest runtime", longest)
				}
				wantDistribution(t, sample, runtimeCDF(p, width))
			})
		}
	})
}

func TestTheLongestRuntimeIsTheLimit(t *testing.T) {
	if got := int64(exp(maxLogRuntime)); got != MaxRuntime {
		t.Errorf("%d s, want %d", got, MaxRuntime)
	}
}
