package mapping

import "github.com/seed-9b8f70bb/drover/batch"

// Record is how a site's earlier estimates for a service were kept. Medians: a few
// jobs that waited for days say little about the next one.
type Record struct {
	Jobs  int
	Start batch.Duration // by how much starts came later than estimated
	Run   batch.Share    // runtimes over what was estimated for them
}

// enoughRecord is how many jobs a record has to be of before it counts.
const enoughRecord = 10

// The range of a correction of the runtime: beyond it the record is of something
// else than what is asked about.
const (
	leastRun = batch.One / 16
	mostRun  = 16 * batch.One
)

// correct puts a candidate to where estimates such as this have ended up. A start is
// never put before now, or before the end of the transfer.
func (r *Record) correct(c *Candidate) {
	if r.Jobs < enoughRecord {
		return
	}
	before := c.Completion
	if r.Start > 0 {
		c.Wait = plus(c.Wait, r.Start)
	} else {
		c.Wait = max(c.Wait+r.Start, c.Transfer, 0)
	}
	c.Run = scale(c.Run, min(max(r.Run, leastRun), mostRun))
	c.Completion = plus(c.Wait, c.Run)
	c.Correction = c.Completion - before
}

// scale returns d times share, d not negative, to 2^-20 of it.
func scale(d batch.Duration, share batch.Share) batch.Duration {
	whole, rest := d/batch.Duration(batch.One), d%batch.Duration(batch.One)
	if whole >= batch.Forever/batch.Duration(mostRun) {
		return d
	}
	return whole*batch.Duration(share) + rest*batch.Duration(share)/batch.Duration(batch.One)
}
