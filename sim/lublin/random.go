package lublin

import (
	"math"
	"math/rand/v2"
)

// random draws what the model needs. All of it comes from one generator.
type random struct {
	bits  *rand.PCG
	spare float64 // a normal that is not used yet
	has   bool
}

// second is the other half of the generator's seed; any number would do.
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

// gamma is a gamma distribution, of a shape of at least 1.
type gamma struct {
	scale float64
	d, c  float64 // Marsaglia's and Tsang's
}

func newGamma(shape, scale float64) gamma {
	d := shape - 1./3
	return gamma{scale: scale, d: d, c: 1 / math.Sqrt(9*d)}
}

// draw draws from it.
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

// below draws from it until what comes is at most limit.
func (g *gamma) below(r *random, limit float64) float64 {
	for {
		if x := g.draw(r); x <= limit {
			return x
		}
	}
}
