package lublin

import (
	"math"
	"math/rand/v2"
)

// random draws random numbers from one generator.
type random struct {
	bits  *rand.PCG
	spare float64 // an unused normal
	has   bool
}

// second is the second half of the generator's seed; any number would do.
const second = 0x4c75626c696e3939

func newRandom(seed uint64) *random {
	return &random{bits: rand.NewPCG(seed, second)}
}

// uniform draws from [0, 1).
func (r *random) uniform() float64 {
	return float64(r.bits.Uint64()>>11) * 0x1p-53
}

// positive draws from (0, 1].
func (r *random) positive() float64 {
	return float64(r.bits.Uint64()>>11+1) * 0x1p-53
}

// normal draws from the standard normal distribution, by Marsaglia's polar
// method, which yields two at a time.
func (r *random) normal() float64 {
	if r.has {
		r.has = false
		return r.spare
	}
	for {
		x := float64(2*r.uniform()) - 1
		y := float64(2*r.uniform()) - 1
		s := float64(x*x) + float64(y*y)
		if s >= 1 || s <= 0 {
			continue
		}
		f := math.Sqrt(-2 * log(s) / s)
		r.spare, r.has = float64(y*f), true
		return float64(x * f)
	}
}

// gamma is a gamma distribution with a shape of at least 1.
type gamma struct {
	scale float64
	d, c  float64 // of Marsaglia and Tsang
}

func newGamma(shape, scale float64) gamma {
	d := shape - 1./3
	return gamma{scale: scale, d: d, c: 1 / math.Sqrt(9*d)}
}

// draw draws a value.
func (g *gamma) draw(r *random) float64 {
	for {
		x := r.normal()
		v := 1 + float64(g.c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		u := r.positive()
		square := float64(x * x)
		if u < 1-float64(0.0331*square*square) || log(u) < float64(0.5*square)+float64(g.d*(1-v+log(v))) {
			return float64(g.scale * (g.d * v))
		}
	}
}

// below draws until the value is at most limit.
func (g *gamma) below(r *random, limit float64) float64 {
	for {
		if x := g.draw(r); x <= limit {
			return x
		}
	}
}

// math.Exp and math.Log are in assembly for some processors and in Go, with fused operations,
// for others, and differ in the last bit. These functions do not. Their errors are a few units
// in the last place, for the arguments of the model: finite, with results neither tiny nor
// huge.

// oddReciprocals are the coefficients of the series of the inverse hyperbolic tangent, last one
// first.
var oddReciprocals = [...]float64{
	1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1,
}

// log returns the natural logarithm of x > 0.
func log(x float64) float64 {
	l, e := logParts(x)
	return float64(e*math.Ln2) + l
}

// log2 returns the binary logarithm of x > 0; it is exact for powers of two.
func log2(x float64) float64 {
	l, e := logParts(x)
	return e + l/math.Ln2
}

// logParts splits x into m * 2^k, with m from the square root of 1/2 to that of 2. It returns
// the logarithm of m, and k.
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

// factorials are the coefficients of the series of the exponential, last one first.
var factorials = [...]float64{
	1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040,
	1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1,
}

// ln2High ends with zeros, so its product with an exponent is exact.
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

// stream is a class of jobs, with its next arrival.
type stream struct {
	params   *parameters
	widths   widths
	runtimes runtimes
	gaps     gamma
	cycle    cycle

	// The next arrival, in seconds since the midnight at the start.
	even, clock float64
	last        float64 // even time of the last accepted arrival
}

func newStream(p *parameters, procs int) *stream {
	return &stream{
		params: p, widths: fit(p, procs), runtimes: newRuntimes(p),
		gaps: newGamma(float64(p.gapShape*p.ratio), p.gapScale), cycle: newCycle(p),
	}
}

// advance draws the next arrival.
func (s *stream) advance(r *random) {
	s.last = s.even
	s.even += exp(s.gaps.below(r, maxLogGap))
	s.clock = s.cycle.clockAt(s.even)
}

// earliest returns the index of the stream with the earliest next arrival.
func earliest(streams []*stream) int {
	first := 0
	for i, s := range streams {
		if s.clock < streams[first].clock {
			first = i
		}
	}
	return first
}
