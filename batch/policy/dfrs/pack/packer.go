package pack

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// A Packer packs one problem after the other and reuses its memory. Its zero value is ready. It
// is not safe for concurrent use.
//
// Its input must be valid (see Validate). The Packer only reads it, and only during the call.
type Packer struct {
	nodes       int32
	cpu, memory int64 // of a node; if memory is not counted, a node has 1 and tasks take 0
	up          []int32
	segments    []segment
	pins        []pin // by node, then job, then group
	pinsAt      []int32
	spread      []pin

	items           []item
	byCPU, byMemory []ranked
	jobs            []Job          // only during a call
	period          batch.Duration // of Stretch; 0 for Yield
	trial, best     *plan
	kept            int
	places          []Placement
	placesAt        []int32
	match           matching
}

// item is a group of tasks that are not pinned.
type item struct {
	job, group   int32
	tasks        int64
	need, memory int64
	order        int64
	// bound is the largest yield at which it does not need more CPU than memory.
	bound batch.Share
}

// pin is the tasks of a group that are pinned to a node.
type pin struct {
	node         int32
	job, group   int32
	tasks        int64
	need, memory int64
}

// Yield packs the longest prefix of jobs that MCB8 can place; jobs come by descending priority.
// It returns the length of the prefix and the best yield found. Placements returns the packing
// at that yield. If no job is kept the yield is 1.
func (p *Packer) Yield(m *Machine, jobs []Job) (kept int, y batch.Share) {
	p.period = 0
	return p.search(m, jobs, least)
}

// Stretch does the same for MCB8-stretch: it searches the largest inverse of the stretch that
// all kept jobs can have after another period, of at least 1 µs. yields[i] is the yield that
// job i needs for it, valid until the next call; it can be 0 if the job has reached the value
// already.
func (p *Packer) Stretch(
	m *Machine, jobs []Job, period batch.Duration,
) (kept int, inverse batch.Share, yields []batch.Share) {
	p.period = max(period, 1)
	kept, inverse = p.search(m, jobs, 0)
	return kept, inverse, p.best.yields
}

// Placements returns the nodes of a kept job's tasks, by ascending node and then group. The
// slice is valid until the next call.
func (p *Packer) Placements(job int) []Placement {
	return p.places[p.placesAt[job]:p.placesAt[job+1]:p.placesAt[job+1]]
}

// least is the lowest yield tried, and the precision of a search.
const least = batch.One / 100

func (p *Packer) search(m *Machine, jobs []Job, floor batch.Share) (int, batch.Share) {
	if p.trial == nil {
		p.trial, p.best = &plan{}, &plan{}
	}
	p.jobs = jobs
	defer func() { p.jobs = nil }()
	n := p.load(m, floor)
	value := batch.One
	if n < len(jobs) || !p.try(n, batch.One) {
		for !p.try(n, floor) {
			n--
		}
		value = floor
		if n < len(jobs) && p.try(n, batch.One) {
			value = batch.One
		}
	}
	for low, high := value, batch.One; high-low > least; {
		middle := (low + high) / 2
		if p.try(n, middle) {
			low, value = middle, middle
		} else {
			high = middle
		}
	}
	p.expand(n)
	return n, value
}

// try packs the first n jobs at a yield or an inverse of the stretch. A packing that fits
// becomes the best plan, because the values tried for the same jobs rise.
func (p *Packer) try(n int, value batch.Share) bool {
	t := p.trial
	if p.period > 0 && !t.aim(p.jobs[:n], value, p.period) {
		return false
	}
	t.value = value
	if !p.reserve(t, n) {
		return false
	}
	if p.period > 0 {
		p.divideByStretch(t, n)
	} else {
		p.divide(t, n)
	}
	if !t.pack(p) {
		return false
	}
	p.trial, p.best = p.best, t
	return true
}

// Least returns the least CPU that a task with a need takes in Yield. It limits the number of
// pinned jobs at the front that fit.
func Least(need batch.Share) int64 { return share(int64(need), least) }

// aim sets the yields that bring all jobs to an inverse of the stretch at the end of a period.
// It reports whether all yields are at most 1.
func (t *plan) aim(jobs []Job, inverse batch.Share, period batch.Duration) bool {
	t.yields = t.yields[:0]
	for i := range jobs {
		y, ok := yieldFor(&jobs[i], inverse, period)
		if !ok {
			return false
		}
		t.yields = append(t.yields, y)
	}
	return true
}

// yieldFor solves (virtual + yield × period) / (flow + period) = inverse for the yield, rounded
// up. It reports whether the yield is at most 1.
func yieldFor(j *Job, inverse batch.Share, period batch.Duration) (batch.Share, bool) {
	high, low := bits.Mul64(uint64(inverse), uint64(j.Flow)+uint64(period))
	haveHigh, haveLow := bits.Mul64(uint64(batch.One), uint64(j.Virtual))
	low, borrow := bits.Sub64(low, haveLow, 0)
	high, borrow = bits.Sub64(high, haveHigh, borrow)
	if borrow > 0 {
		return 0, true // the job has reached the value already
	}
	low, carry := bits.Add64(low, uint64(period)-1, 0)
	high += carry
	if high >= uint64(period) {
		return 0, false
	}
	y, _ := bits.Div64(high, low, uint64(period))
	return batch.Share(min(y, uint64(batch.One))), y <= uint64(batch.One)
}
