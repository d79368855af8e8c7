package lublin

// runtimes draws how long a job runs.
type runtimes struct {
	short, long gamma
	slope, base float64
}

func newRuntimes(p *parameters) runtimes {
	return runtimes{
		short: newGamma(p.shortShape, p.shortScale), long: newGamma(p.longShape, p.longScale),
		slope: p.slope, base: p.base,
	}
}

// probability is that of a job of this width being a short one.
func (t *runtimes) probability(width int32) float64 {
	return min(max(t.base+float64(t.slope*float64(width)), 0), 1)
}

// draw draws the runtime of a job of this width in whole seconds, from 1 to
// MaxRuntime.
func (t *runtimes) draw(r *random, width int32) int64 {
	p := t.probability(width)
	for {
		g := &t.long
		if r.uniform() < p {
			g = &t.short
		}
		if x := g.draw(r); x <= maxLogRuntime {
			return int64(exp(x))
		}
	}
}
