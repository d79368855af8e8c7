package chart

import (
	"math"
	"strconv"
	"strings"
)

// Scale is how the values of a linear axis are written.
type Scale uint8

// The scales.
const (
	Plain   Scale = iota
	Percent       // 0.25 is written 25%
)

// axis is a range of values and the marks on it.
type axis struct {
	min, max float64
	log      bool
	ticks    []tick
}

type tick struct {
	at    float64
	label string // empty: a minor one
}

// place returns where a value is: 0 at the beginning of the axis, 1 at its end.
func (a *axis) place(v float64) float64 {
	if a.log {
		return math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return (v - a.min) / (a.max - a.min)
}

// linear returns an axis from and to a round value with 4 to 9 marks.
func linear(low, high float64, scale Scale) axis {
	if high-low < 1e-6 { // all values are one: room on both sides
		low, high = low-0.005, high+0.005
	}
	step, digits := roundStep((high - low) / 6)
	first, last := int(math.Floor(low/step+1e-9)), int(math.Ceil(high/step-1e-9))
	a := axis{min: float64(first) * step, max: float64(last) * step}
	for i := first; i <= last; i++ {
		v := float64(i) * step
		label := strconv.FormatFloat(v, 'f', digits, 64)
		if scale == Percent {
			label = strconv.FormatFloat(100*v, 'f', max(0, digits-2), 64) + "%"
		}
		a.ticks = append(a.ticks, tick{at: v, label: grouped(label)})
	}
	return a
}

// roundStep returns the least of 1, 2 and 5 times a power of ten that is not below
// what is wanted, and the decimals that it needs.
func roundStep(want float64) (step float64, digits int) {
	exponent := int(math.Floor(math.Log10(want)))
	for {
		for _, mantissa := range []float64{1, 2, 5} {
			step = mantissa * math.Pow10(exponent)
			if step >= want*(1-1e-9) {
				return step, max(0, -exponent)
			}
		}
		exponent++
	}
}

// logarithmic returns an axis over whole powers of ten; both ends are positive.
func logarithmic(low, high float64) axis {
	first, last := int(math.Floor(math.Log10(low)+1e-9)), int(math.Ceil(math.Log10(high)-1e-9))
	if first == last {
		last++
	}
	a := axis{min: math.Pow10(first), max: math.Pow10(last), log: true}
	for e := first; e <= last; e++ {
		label := strconv.FormatFloat(math.Pow10(e), 'f', max(0, -e), 64)
		a.ticks = append(a.ticks, tick{at: math.Pow10(e), label: grouped(label)})
		for m := 2.; m <= 9 && e < last; m++ {
			a.ticks = append(a.ticks, tick{at: m * math.Pow10(e)})
		}
	}
	return a
}

// grouped writes the thousands of a number apart: 10,000.
func grouped(s string) string {
	whole, rest := s, ""
	if i := strings.IndexAny(s, ".%"); i >= 0 {
		whole, rest = s[:i], s[i:]
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + rest
}
