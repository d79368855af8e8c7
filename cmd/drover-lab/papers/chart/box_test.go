package chart

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSummarizeTakesQuartilesByLinearInterpolation(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   Box
	}{
		"no values":          {nil, Box{}},
		"one value":          {[]float64{3}, Box{1, 3, 3, 3, 3, 3, 3}},
		"two values":         {[]float64{4, 2}, Box{2, 2, 2.5, 3, 3.5, 4, 3}},
		"quartiles are some": {[]float64{5, 1, 4, 2, 3}, Box{5, 1, 2, 3, 4, 5, 3}},
		// Positions 2.25, 4.5 and 6.75 of 1..10, as R's quantile(1:10) has them.
		"ten values":      {[]float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}, Box{10, 1, 3.25, 5.5, 7.75, 10, 5.5}},
		"an outlier":      {[]float64{0, 0, 0, 100}, Box{4, 0, 0, 0, 25, 100, 25}},
		"values below 0":  {[]float64{-4, 0, -2}, Box{3, -4, -3, -2, -1, 0, -2}},
		"all values same": {[]float64{7, 7, 7, 7}, Box{4, 7, 7, 7, 7, 7, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.values)
			got, err := Summarize(tc.values)
			if err != nil || got != tc.want {
				t.Errorf("%+v, %v, want %+v", got, err, tc.want)
			}
			if !slices.Equal(before, tc.values) {
				t.Errorf("the sample has become %v", tc.values)
			}
		})
	}
}

func TestSummarizeRefusesNaNAndInfinity(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got, err := Summarize([]float64{1, v}); err == nil {
			t.Errorf("%v: %+v", v, got)
		}
	}
}

func TestSummarizeDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		a, err := Summarize(values)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Summarize(rapid.Permutation(values).Draw(t, "permuted"))
		if err != nil || a != b {
			t.Fatalf("%+v and %+v, %v", a, b, err)
		}
		if !(a.Min <= a.Q1 && a.Q1 <= a.Median && a.Median <= a.Q3 && a.Q3 <= a.Max) {
			t.Fatalf("out of order: %+v", a)
		}
		// At least a quarter of the values is not above the lower quartile, and so on.
		for _, q := range []struct{ at, share float64 }{{a.Q1, 0.25}, {a.Median, 0.5}, {a.Q3, 0.75}} {
			below := 0
			for _, v := range values {
				if v <= q.at {
					below++
				}
			}
			if float64(below) < q.share*float64(len(values)-1) {
				t.Fatalf("%d of %d values are below %v", below, len(values), q.at)
			}
		}
	})
}
