package lublin

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const draws = 60_000

func TestUniformAndNormalHaveTheirDistributions(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(*random) float64
		cdf  func(float64) float64
	}{
		"uniform":  {(*random).uniform, distuv.Uniform{Min: 0, Max: 1}.CDF},
		"positive": {(*random).positive, distuv.Uniform{Min: 0, Max: 1}.CDF},
		"normal":   {(*random).normal, distuv.UnitNormal.CDF},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRandom(1)
			sample := make([]float64, draws)
			for i := range sample {
				sample[i] = c.draw(r)
			}
			if far := math.Abs(stat.Correlation(sample[1:], sample[:draws-1], nil)); far > 4/math.Sqrt(draws) {
				t.Errorf("neighbours correlate by %g", far)
			}
			wantDistribution(t, sample, c.cdf)
		})
	}
}

func TestGammaMatchesGonum(t *testing.T) {
	for seed, c := range [][2]float64{
		{1, 1}, {1.5, 2}, {4.2, 0.94}, {312, 0.03}, {6.57, 0.823}, {639.1, 0.0156}, {3.8351, 0.6605}, {10.46, 0.4871},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			want := gammaOf(c[0], c[1])
			g, r := newGamma(c[0], c[1]), newRandom(uint64(seed))
			sample := make([]float64, draws)
			for i := range sample {
				sample[i] = g.draw(r)
			}
			mean, deviation := stat.MeanStdDev(sample, nil)
			if far := math.Abs(mean-want.Mean()) / (want.StdDev() / math.Sqrt(draws)); far > 3.3 {
				t.Errorf("mean %g, want %g: %.1f standard errors away", mean, want.Mean(), far)
			}
			if math.Abs(deviation/want.StdDev()-1) > 0.015 {
				t.Errorf("deviation %g, want %g", deviation, want.StdDev())
			}
			wantDistribution(t, sample, want.CDF)
		})
	}
}

func TestBelowRedrawsValuesAboveTheLimit(t *testing.T) {
	g, r, want := newGamma(4.2, 0.94), newRandom(3), gammaOf(4.2, 0.94)
	sample := make([]float64, draws)
	for i := range sample {
		sample[i] = g.below(r, 5)
	}
	wantDistribution(t, sample, func(x float64) float64 { return want.CDF(x) / want.CDF(5) })
}
