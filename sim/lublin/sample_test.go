package lublin

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// TestWorkloadsMatchTheAuthorsProgram compares with 10,000 jobs that
// their program made for 256 processors, undivided.
func TestWorkloadsMatchTheAuthorsProgram(t *testing.T) {
	path, err := swf.FindTrace("lublin_256.swf.gz")
	if err != nil {
		t.Skip(err)
	}
	theirs, err := swf.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ours := generate(t, Config{Jobs: 200_000, Procs: 256, Seed: 7})
	cycle, widths := newCycle(&allJobs), fit(&allJobs, 256)

	t.Run("widths", func(t *testing.T) {
		got, want := make([]float64, 257), widthShares(&allJobs, &widths, 256)
		for i := range theirs.Jobs {
			got[theirs.Jobs[i].UsedProcs]++
		}
		for n := range want {
			want[n] *= float64(len(theirs.Jobs))
		}
		wantFrequencies(t, got, want)
	})
	for name, in := range map[string]func(*swf.Job) bool{
		"runtimes of all":         func(*swf.Job) bool { return true },
		"runtimes of serial jobs": func(j *swf.Job) bool { return j.UsedProcs == 1 },
		"runtimes of wide jobs":   func(j *swf.Job) bool { return j.UsedProcs >= 64 },
	} {
		t.Run(name, func(t *testing.T) {
			wantSame(t, runs(theirs, in), runs(ours, in))
		})
	}
	t.Run("gaps in even time", func(t *testing.T) {
		wantSame(t, evenGaps(&cycle, theirs), evenGaps(&cycle, ours))
	})
	t.Run("day", func(t *testing.T) {
		a, b := day(theirs), day(ours)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 0.03 {
				t.Errorf("%d:00 to %d:00: a share of %.4f, theirs %.4f", 4*i, 4*i+4, b[i], a[i])
			}
		}
	})
	// The load is the ratio of these two means. Both have long tails: the
	// standard error of that of 10,000 gaps is 7%.
	t.Run("mean area", func(t *testing.T) { wantMean(t, areas(theirs), areas(ours)) })
	t.Run("mean gap", func(t *testing.T) { wantMean(t, gaps(theirs), gaps(ours)) })
}

// wantMean wants the mean of a small sample to be within 3.3 standard errors of
// that of a large one, whose deviation is better known.
func wantMean(t *testing.T, small, large []float64) {
	t.Helper()
	want, deviation := stat.MeanStdDev(large, nil)
	got := stat.Mean(small, nil)
	if far := math.Abs(got-want) / (deviation / math.Sqrt(float64(len(small)))); far > 3.3 {
		t.Errorf("%.1f and %.1f: %.1f standard errors", got, want, far)
	}
}

func areas(t *swf.Trace) []float64 {
	var all []float64
	for i := range t.Jobs {
		all = append(all, float64(t.Jobs[i].Run)*float64(t.Jobs[i].UsedProcs))
	}
	return all
}

func gaps(t *swf.Trace) []float64 {
	var all []float64
	for i := 1; i < len(t.Jobs); i++ {
		all = append(all, float64(t.Jobs[i].Submit-t.Jobs[i-1].Submit))
	}
	return all
}

func runs(t *swf.Trace, in func(*swf.Job) bool) []float64 {
	var all []float64
	for i := range t.Jobs {
		if in(&t.Jobs[i]) {
			all = append(all, float64(t.Jobs[i].Run))
		}
	}
	return all
}

// evenGaps takes the time between jobs out of the cycle, and leaves out what
// whole seconds blur.
func evenGaps(c *cycle, t *swf.Trace) []float64 {
	var all []float64
	for i := 1; i < len(t.Jobs); i++ {
		all = append(all, math.Floor(c.evenAt(float64(t.Jobs[i].Submit))/5)*5-math.Floor(
			c.evenAt(float64(t.Jobs[i-1].Submit))/5,
		)*5)
	}
	return all
}

// day returns the share of jobs that come in each four hours.
func day(t *swf.Trace) (shares [6]float64) {
	for i := range t.Jobs {
		shares[t.Jobs[i].Submit%secondsADay/14400] += 1 / float64(len(t.Jobs))
	}
	return shares
}
