package share

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Bound returns the largest yield that all jobs can have at once: 1/max(1, Λ), where Λ is the
// largest load of a node divided by its capacity. It ignores CPU set aside by Take.
func (p *Pool) Bound() batch.Share {
	most := p.capacity
	for i := range p.nodes {
		most = max(most, p.nodes[i].load)
	}
	return scale(batch.One, p.capacity, most)
}

// Average computes yields with the largest possible sum, none below the Bound (opt=avg).
// Several solutions can have the same sum; equal jobs get equal yields. It returns the jobs
// with a changed yield, ascending; the list is valid until the next allocation.
func (p *Pool) Average() []int32 {
	all := p.becomes(average)
	if b := p.Bound(); b != p.bound {
		p.bound, all = b, true
	}
	return p.allocate(all, (*Pool).averageUp)
}

func (p *Pool) averageUp() {
	p.number(func(p *Pool, _ *job) batch.Share { return p.bound })
	p.maximize(func(*Pool, *job) float64 { return 1 })
}

// maximize sets the yields of a component that maximize the sum of yield × worth.
func (p *Pool) maximize(worth func(*Pool, *job) float64) {
	g, l := &p.program, &p.local
	p.formulate(worth)
	g.solve()
	for i, c := range g.columnOf {
		if g.value[c] >= g.upper[c] {
			l.yields[i] = batch.One
			continue
		}
		// Round up values that are whole numbers except for a rounding error.
		above := g.value[c] / float64(g.kinds[c].alike)
		units := math.Floor(float64(above*float64(batch.One)) + 1.0/256)
		l.yields[i] = min(l.lower[i]+batch.Share(units), batch.One)
	}
	p.settle()
}

// scale returns share × part / whole, rounded down; part must be at most whole.
func scale(share batch.Share, part, whole int64) batch.Share {
	high, low := bits.Mul64(uint64(share), uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return batch.Share(quotient)
}
