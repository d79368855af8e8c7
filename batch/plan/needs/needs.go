package needs

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Need is what each task of a group needs.
type Need struct {
	CPU    batch.Share // Least..batch.One
	Memory int64       // bytes; 0 is not known
}

// Sample is what was measured since the one before.
type Sample struct {
	Span      batch.Duration // the time it is about; with none nothing is learned of CPU
	CPU       batch.Share    // used on average by the task that used most
	Share     batch.Share    // that each could have at most
	Throttled batch.Duration // for how long one of them had to wait for its quota
	Memory    int64          // highest use of a task so far, in bytes
	Limit     int64          // what holds the memory of a task, in bytes; 0: nothing does
}

// Limits of what is believed and said.
const (
	// Least is the lowest CPU need: who needs less is taken to need that much.
	Least = batch.One / 100
	// Step is the least change of a CPU need that is worth telling.
	Step = batch.One / 32
	// Grain is what memory beyond all limits is rounded up to, so that a task that grows
	// is not told about all the time.
	Grain = 1 << 20
	// Pace is how long it takes to correct half of a difference, by one sample.
	Pace = batch.Minute
	// noise is the part of its time that a task may be throttled and still have what it
	// wants: quotas are given in pieces.
	noise = 50
)

// Correction is what is believed of the tasks of one group. Make one with New.
type Correction struct {
	declared Need
	cpu      batch.Share
	peak     int64
	limit    int64
	told     Need
}

// New begins with what was declared: a CPU need of 0 is a whole processor.
func New(declared Need) *Correction {
	if declared.CPU == 0 {
		declared.CPU = batch.One
	}
	c := &Correction{declared: declared, cpu: min(max(declared.CPU, Least), batch.One)}
	c.told = c.Need()
	return c
}

// Declared returns what was declared.
func (c *Correction) Declared() Need { return c.declared }

// Take learns from a sample.
func (c *Correction) Take(s Sample) {
	c.peak, c.limit = max(c.peak, s.Memory), s.Limit
	if s.Span <= 0 {
		return
	}
	if target, ok := c.target(&s); ok {
		c.cpu = batch.Share(toward(int64(c.cpu), int64(target), s.Span))
	}
}

// target returns the CPU need that a sample shows, if it shows one.
func (c *Correction) target(s *Sample) (batch.Share, bool) {
	switch {
	case s.Throttled <= s.Span/noise:
		return min(max(s.CPU+s.CPU/8, Least), batch.One), true
	case s.Share >= c.cpu:
		return batch.One, true
	case s.CPU > c.cpu: // a measurement is about more than one share
		return min(s.CPU, batch.One), true
	}
	return 0, false
}

// toward goes from a value to another by span/(span+Pace) of the way, rounded up.
func toward(from, to int64, span batch.Duration) int64 {
	way := uint64(max(to-from, from-to))
	high, low := bits.Mul64(way, uint64(span))
	part, rest := bits.Div64(high, low, uint64(span)+uint64(Pace)) // less than way, so it fits
	if rest > 0 {
		part++
	}
	if to < from {
		return from - int64(part)
	}
	return from + int64(part)
}

// Need returns what is believed now.
func (c *Correction) Need() Need {
	floor := c.limit
	if floor == 0 {
		floor = c.declared.Memory
	}
	if c.peak > floor {
		floor = (c.peak + Grain - 1) / Grain * Grain
	}
	return Need{c.cpu, floor}
}

// Found returns what was found out so far: the CPU need that is believed, and the highest
// use of memory, whatever is planned with.
func (c *Correction) Found() Need { return Need{c.cpu, c.peak} }

// Recall takes in what was found out of the same tasks, or of an earlier attempt of
// theirs. It is not told yet.
func (c *Correction) Recall(found Need) {
	c.cpu = min(max(found.CPU, Least), batch.One)
	c.peak = max(c.peak, found.Memory)
}

// Told returns what was told last; at first what was declared.
func (c *Correction) Told() Need { return c.told }

// Tell returns the need if it is worth telling since it was last told, and takes it for
// told: any change of memory, and a Step of CPU.
func (c *Correction) Tell() (Need, bool) {
	n := c.Need()
	if d := n.CPU - c.told.CPU; n.Memory == c.told.Memory && d > -Step && d < Step {
		return n, false
	}
	c.told = n
	return n, true
}
