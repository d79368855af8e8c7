package lublin

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestGapsInEvenTimeAreDistributedAsTheModelSays(t *testing.T) {
	eachClass(t, func(t *testing.T, p *parameters) {
		s, r := newStream(p, 128), newRandom(5)
		gap := gammaOf(p.gapShape*p.ratio, p.gapScale)
		sample := make([]float64, draws)
		for i := range sample {
			s.advance(r)
			sample[i] = math.Log(s.even - s.last)
		}
		wantDistribution(t, sample, func(x float64) float64 { return gap.CDF(x) / gap.CDF(maxLogGap) })
	})
}

// TestArrivalsFollowTheDailyCycle allows what chance does: gaps vary much more than those
// of a Poisson process, so that there is no chi-square test; the number of jobs
// in a time has the variance of a renewal process.
func TestArrivalsFollowTheDailyCycle(t *testing.T) {
	const jobs = 150_000
	classes := map[*parameters]Classes{&allJobs: Undivided, &batchJobs: Batch, &interactiveJobs: Interactive}
	eachClass(t, func(t *testing.T, p *parameters) {
		c, s, r := newCycle(p), newStream(p, 128), newRandom(5)
		gaps := make([]float64, jobs)
		for i := range gaps {
			s.advance(r)
			gaps[i] = s.even - s.last
		}
		mean, deviation := stat.MeanStdDev(gaps, nil)
		for _, load := range []float64{0, 0.3, 3} {
			trace := generate(t, Config{Jobs: jobs, Procs: 128, Seed: 6, Classes: classes[p], Load: load})
			var got [12]float64
			for i := range trace.Jobs {
				got[trace.Jobs[i].Submit%secondsADay/7200] += 1. / jobs
			}
			for i := range got {
				want := (c.even[4*i+4] - c.even[4*i]) / secondsADay
				far := math.Abs(got[i]-want) / (deviation / mean * math.Sqrt(want*(1-want)/jobs))
				if far > 4 || math.Abs(got[i]-want) > 0.03 {
					t.Errorf("load %g: share of the jobs from %d:00 to %d:00 is %.4f, want %.4f: %.1f standard errors",
						load, 2*i, 2*i+2, got[i], want, far)
				}
			}
		}
	})
}
