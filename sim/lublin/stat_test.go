package lublin

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// All tests of distributions are made at this significance, with fixed seeds: a
// right program fails one in a thousand seeds, and we have picked others.
const significance = 0.001

// wantDistribution is the test of Kolmogorov and Smirnov of a sample, which it
// sorts, against a distribution function that is continuous, or is asked only
// where the sample's steps are.
func wantDistribution(t *testing.T, sample []float64, cdf func(float64) float64) {
	t.Helper()
	slices.Sort(sample)
	n := float64(len(sample))
	far := 0.
	for i, x := range sample {
		if i+1 < len(sample) && sample[i+1] <= x {
			continue // ties: the step is at the last of them
		}
		far = max(far, math.Abs(cdf(x)-float64(i+1)/n))
	}
	wantDistance(t, far, n)
}

// wantSame is the same for two samples, which it sorts.
func wantSame(t *testing.T, a, b []float64) {
	t.Helper()
	slices.Sort(a)
	slices.Sort(b)
	far := 0.
	for _, x := range a {
		far = max(far, math.Abs(shareUpTo(a, x)-shareUpTo(b, x)))
	}
	n, m := float64(len(a)), float64(len(b))
	wantDistance(t, far, n*m/(n+m))
}

func shareUpTo(sorted []float64, x float64) float64 {
	i, _ := slices.BinarySearchFunc(sorted, x, func(e, x float64) int {
		if e <= x {
			return -1
		}
		return 1
	})
	return float64(i) / float64(len(sorted))
}

func wantDistance(t *testing.T, far, n float64) {
	t.Helper()
	if limit := math.Sqrt(-math.Log(significance/2)/2) / math.Sqrt(n); far > limit {
		t.Errorf("distribution functions are %.5f apart, at most %.5f at significance %g", far, limit, significance)
	}
}

// wantFrequencies is the chi-square test of counts against expected ones. Bins
// that expect less than 5 are put together.
func wantFrequencies(t *testing.T, got, want []float64) {
	t.Helper()
	statistic, bins, restGot, restWant := 0., -1., 0., 0.
	for i := range got {
		restGot += got[i]
		restWant += want[i]
		if restWant >= 5 {
			statistic += (restGot - restWant) * (restGot - restWant) / restWant
			bins++
			restGot, restWant = 0, 0
		}
	}
	if restGot > 20 {
		t.Errorf("%g where %g are expected, in bins that are too small to be tested", restGot, restWant)
	}
	if limit := (distuv.ChiSquared{K: bins}).Quantile(1 - significance); statistic > limit {
		t.Errorf("chi-square %.1f, at most %.1f with %g degrees of freedom at significance %g", statistic, limit, bins,
			significance)
	}
}

// gammaOf is gonum's gamma distribution, whose second parameter is a rate.
func gammaOf(shape, scale float64) distuv.Gamma { return distuv.Gamma{Alpha: shape, Beta: 1 / scale} }

// classes of the tests, by name.
func eachClass(t *testing.T, test func(t *testing.T, p *parameters)) {
	for _, p := range []*parameters{&allJobs, &batchJobs, &interactiveJobs} {
		t.Run(p.name, func(t *testing.T) { test(t, p) })
	}
}
