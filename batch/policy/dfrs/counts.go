package dfrs

import "github.com/seed-9b8f70bb/drover/batch"

// Counts are event counters.
type Counts struct {
	Packings int // by MCB8 or MCB8-stretch
	Paused   int
	Migrated int // moved, or paused and resumed at one instant
}

// Counts returns the counters so far.
func (p *Policy) Counts() Counts { return p.counts }

// MinYield returns the least yield of the running jobs; One if none runs.
func (p *Policy) MinYield() batch.Share {
	least := batch.One
	for _, h := range p.placed {
		if j := &p.jobs[h]; j.running {
			least = min(least, j.yield)
		}
	}
	return least
}
