package pack

import "github.com/seed-9b8f70bb/drover/batch"

// A Packer packs one problem after the other, in the memory of those before. Its
// zero value is ready. It is not safe for concurrent use.
//
// What it is given must be valid in the sense of Validate; it is only read, and only
// during the call.
type Packer struct {
	nodes       int32
	cpu, memory int64 // of a node; its memory is 1, and no task takes any, where it is not counted
	up          []int32
	segments    []segment
	pins        []pin // by node, then job, then group
	pinsAt      []int32
	spread      []pin

	items           []item
	byCPU, byMemory []ranked
	jobs            []Job          // only during a call
	period          batch.Duration // 0: yields are sought, else stretches
	trial, best     *plan
	kept            int
	places          []Place
	placesAt        []int32
	match           matching
}

// item is a group of tasks that may go anywhere.
type item struct {
	job, group   int32
	tasks        int64
	need, memory int64
	order        int64
	// bound is the last yield at which it does not want more CPU than memory.
	bound batch.Share
}

// pin is a group's tasks on a node that they do not leave.
type pin struct {
	node         int32
	job, group   int32
	tasks        int64
	need, memory int64
}

// Yield packs the longest beginning of jobs, which come by falling priority, that
// MCB8 can place at all, and returns its length and the best yield found for it. Its
// places are those of the packing at that yield. With nobody kept the yield is 1.
func (p *Packer) Yield(m *Machine, jobs []Job) (kept int, y batch.Share) {
	p.period = 0
	return p.search(m, jobs, least)
}

// Stretch does the same for MCB8-stretch: it seeks the largest inverse of the
// stretch that all who are kept can have after another period, of at least 1 µs.
// yields[i] is what job i needs for that, until the next call; it may be 0 where a
// job is there already.
func (p *Packer) Stretch(m *Machine, jobs []Job, period batch.Duration) (kept int, inverse batch.Share, yields []batch.Share) {
	p.period = max(period, 1)
	kept, inverse = p.search(m, jobs, 0)
	return kept, inverse, p.best.yields
}

// Places returns where the tasks of a job that was kept go, by ascending node and
// then group, until the next call.
func (p *Packer) Places(job int) []Place {
	return p.places[p.placesAt[job]:p.placesAt[job+1]:p.placesAt[job+1]]
}

// least is the lowest yield tried, and what a search leaves undecided.
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

// try packs the first n jobs at a yield or an inverse of the stretch. What fits is
// the best plan from then on, for the values that are tried for so many jobs rise.
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

// Least is the CPU that a task with a need takes at least where a yield is sought: of
// those that are pinned at the front, as many fit as this allows.
func Least(need batch.Share) int64 { return share(int64(need), least) }
