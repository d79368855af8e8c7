package papers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// Exact formats a number so that it is read back as the same.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Count formats a whole number.
func Count(n int) string { return strconv.Itoa(n) }

// Percent formats a share: 0.123 is 12.3%.
func Percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + "%" }

// Hundredths formats a share: 0.1234 is 12.34%.
func Hundredths(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) + "%" }

// Signed formats a gain: 0.123 is +12.3%.
func Signed(v float64) string {
	s := Percent(v)
	if !strings.HasPrefix(s, "-") && s != "0.0%" {
		s = "+" + s
	}
	if s == "-0.0%" {
		return "0.0%"
	}
	return s
}

// Ratio formats a number with three digits behind the point.
func Ratio(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// Tenth formats a number with one digit behind the point: 3,578.5.
func Tenth(v float64) string { return Grouped(strconv.FormatFloat(v, 'f', 1, 64)) }

// Hundredth formats a number with two digits behind the point: 1,005.48.
func Hundredth(v float64) string { return Grouped(strconv.FormatFloat(v, 'f', 2, 64)) }

// Times formats ours in parts of theirs: 1.02. It is empty if theirs is 0.
func Times(ours, theirs float64) string {
	if theirs == 0 {
		return ""
	}
	return Hundredth(ours / theirs)
}

// Grouped separates the thousands of a formatted number that is not negative.
func Grouped(s string) string {
	digits, _, _ := strings.Cut(s, ".")
	for i := len(digits) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Shown formats a number, as an empty cell if it was not measured.
func Shown(v float64, ok bool, format func(float64) string) string {
	if !ok {
		return ""
	}
	return format(v)
}

// FromTo formats the range of numbers.
func FromTo(v []float64, format func(float64) string) string {
	return fmt.Sprintf("%s to %s", format(slices.Min(v)), format(slices.Max(v)))
}

// Mean returns the mean of finite numbers.
func Mean(v []float64) float64 {
	b, _ := chart.Summarize(v)
	return b.Mean
}

// CountWhere returns how many values a condition holds for.
func CountWhere[T any](v []T, holds func(T) bool) int {
	n := 0
	for _, x := range v {
		if holds(x) {
			n++
		}
	}
	return n
}

// Each returns a number of each item.
func Each[T any](all []T, of func(T) float64) []float64 {
	var v []float64
	for _, s := range all {
		v = append(v, of(s))
	}
	return v
}

// Including returns a list with x, which it appends if it is missing.
func Including[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// Every reports whether all of the cases count.
func Every(n, of int) bool { return n == of }

// Most reports whether more than half of the cases count.
func Most(n, of int) bool { return 2*n > of }

// Within returns a condition: from low to high.
func Within(low, high float64) func(float64) bool {
	return func(v float64) bool { return v >= low && v <= high }
}
