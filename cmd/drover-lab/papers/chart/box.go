package chart

import (
	"fmt"
	"math"
	"slices"
)

// Box is what a box plot shows of a sample.
type Box struct {
	N                              int // values; 0: there is no box
	Min, Q1, Median, Q3, Max, Mean float64
}

// Summarize returns the box of a sample, which may be empty and stays as it is.
// Values that are no finite numbers are refused.
func Summarize(values []float64) (Box, error) {
	if len(values) == 0 {
		return Box{}, nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted) // a mean that does not depend on the order of the values
	sum := 0.
	for _, v := range sorted {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Box{}, fmt.Errorf("box: %v is no finite number", v)
		}
		sum += v
	}
	n := len(sorted)
	return Box{
		N: n, Min: sorted[0], Max: sorted[n-1], Mean: sum / float64(n),
		Q1: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), Q3: quantile(sorted, 0.75),
	}, nil
}

// quantile returns the quantile p, 0 to 1, of sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
