package lublin

import "math"

// math.Exp and math.Log are written in assembly for some processors and in Go,
// with fused operations, for others, and differ in the last bit. These do not.
// Their errors are a few units in the last place, and they are made for the
// arguments of the model: finite, results neither tiny nor huge.

// oddReciprocals are the coefficients of the series of the inverse hyperbolic
// tangent, from the last one we need to the first.
var oddReciprocals = [...]float64{
	1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1,
}

// log returns the natural logarithm of x > 0.
func log(x float64) float64 {
	l, e := logParts(x)
	return float64(e*math.Ln2) + l
}

// log2 returns the binary logarithm of x > 0; that of a power of two is exact.
func log2(x float64) float64 {
	l, e := logParts(x)
	return e + l/math.Ln2
}

// logParts returns the logarithm of a number from the root of 1/2 to that of 2,
// and the power of two, a whole number, that x is this number times.
func logParts(x float64) (l, e float64) {
	m, n := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		n--
	}
	// log m = 2 artanh s, |s| < 0.172
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	sum := 0.
	for _, c := range oddReciprocals {
		sum = float64(sum*z) + c
	}
	return float64(2 * s * sum), float64(n)
}

// factorials are the coefficients of the series of the exponential, from the
// last one we need to the first.
var factorials = [...]float64{
	1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040,
	1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1,
}

// ln2High has zeros at its end, so that its product with an exponent is exact.
const (
	ln2High = 0x1.62e42fefp-1
	ln2Low  = math.Ln2 - ln2High
)

// exp returns e to the x.
func exp(x float64) float64 {
	k := math.Floor(x/math.Ln2 + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	sum := 0.
	for _, c := range factorials {
		sum = float64(sum*r) + c
	}
	return math.Ldexp(sum, int(k))
}

// exp2 returns 2 to the x.
func exp2(x float64) float64 {
	k := math.Floor(x + 0.5)
	return math.Ldexp(exp(float64((x-k)*math.Ln2)), int(k))
}
