package engine

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// yield returns how fast a job progresses on places, as a fraction of its speed
// on whole processors of its reference machine: that of its slowest task. It is
// One without places.
func (e *Engine) yield(spec *batch.Job, places []batch.NodeAllocation) batch.Share {
	if len(places) == 0 {
		return batch.One
	}
	least := batch.Share(math.MaxInt32)
	for i := range places {
		least = min(least, e.taskYield(spec, &places[i]))
	}
	return least
}

func (e *Engine) taskYield(spec *batch.Job, p *batch.NodeAllocation) batch.Share {
	need := e.need(spec, p.Group)
	y := min(int64(p.Share)*int64(batch.One)/int64(need), int64(batch.One))
	if int(p.Node) < len(e.nodes) && e.nodes[p.Node].Score > 0 && spec.Reference > 0 {
		y = y * int64(e.nodes[p.Node].Score) / int64(spec.Reference)
	}
	return batch.Share(min(y, math.MaxInt32))
}

// progress returns the work done in d at yield y, rounded down.
func progress(d batch.Duration, y batch.Share) batch.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(y))
	return batch.Duration(hi<<44 | lo>>20)
}

// needs returns the time that so much work takes at yield y, rounded up.
func needs(work batch.Duration, y batch.Share) batch.Duration {
	if y == batch.One {
		return work
	}
	return work.Times(int64(batch.One), int64(y))
}
