package engine

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Uses says what share of a processor the tasks of each group of an admitted job can
// really use, where that differs from its spec. The policy does not know: the caller can
// report it by Measured.
func (e *Engine) Uses(h batch.Handle, groups ...batch.Share) {
	if e.uses == nil {
		e.uses = map[batch.Handle][]batch.Share{}
	}
	e.uses[h] = slices.Clone(groups)
}

// need returns what share each task of a group can use.
func (e *Engine) need(spec *batch.Job, group int32) batch.Share {
	need := spec.CPU
	if len(spec.Groups) > 0 {
		need = spec.Groups[group].CPU
	}
	if e.uses != nil && e.uses[spec.Handle] != nil {
		need = e.uses[spec.Handle][group]
	}
	if need == 0 {
		need = batch.One
	}
	return need
}

// stay panics if a resident job that has begun is to go elsewhere.
func (h *holding) stay(now batch.Time, d *batch.Decision) {
	same := func(a, b batch.NodeAllocation) bool {
		return a.Node == b.Node && a.Group == b.Group && a.Processors == b.Processors
	}
	if d.Kind == batch.Migrate || d.Kind != batch.Pause && !slices.EqualFunc(h.places, d.Allocation, same) {
		panic(fmt.Sprintf("ledger: at %d %v of job %d, which stays in memory: to %v from %v", now, d.Kind, d.Job,
			d.Allocation, h.places))
	}
}

// memory sums up what is taken on each node, by resident jobs that are paused, too.
func (l *Ledger) memory() []int64 {
	sums := make([]int64, len(l.platform.Nodes))
	for _, h := range l.held {
		if h.paused && !h.spec.Resident {
			continue
		}
		for _, p := range h.places {
			sums[p.Node] += h.of(p.Group) * int64(p.Processors)
		}
	}
	return sums
}

// of returns the memory of each task of a group.
func (h *holding) of(group int32) int64 {
	switch {
	case h.memory != nil:
		return h.memory[group]
	case len(h.spec.Groups) > 0:
		return h.spec.Groups[group].Memory
	}
	return h.spec.Memory
}

// measure notes what each task of a group of a job that has begun needs. It can
// exceed what there is, but must not grow then.
func (l *Ledger) measure(ev *batch.Event) {
	h, ok := l.held[ev.Job]
	if !ok || ev.Memory == 0 {
		return
	}
	of := make([]int64, max(1, len(h.spec.Groups)))
	for g := range of {
		of[g] = h.of(int32(g))
	}
	of[ev.Group], h.memory = ev.Memory, of
	l.held[ev.Job] = h
	l.over = l.memory()
}

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
