package needs

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Need is what each task of a group needs.
type Need struct {
	CPU    batch.Share // Least..batch.One
	Memory int64       // bytes; 0 is unknown
}

// Sample is a measurement since the previous sample.
type Sample struct {
	Span      batch.Duration // the time it covers; 0: it says nothing about CPU
	CPU       batch.Share    // average use of the task that used most
	Share     batch.Share    // the limit of each task
	Throttled batch.Duration // how long one of them waited for its quota
	Memory    int64          // highest use of a task so far, in bytes
	Limit     int64          // the memory limit of a task, in bytes; 0: none
}

// The bounds of what is estimated and reported.
const (
	// Least is the lowest CPU need; lower ones are raised to it.
	Least = batch.One / 100
	// Step is the smallest change of a CPU need that is reported.
	Step = batch.One / 32
	// Grain is the unit to which memory above all limits is rounded up, so that a growing task
	// does not cause constant reports.
	Grain = 1 << 20
	// Pace is the length of a sample that corrects half of a difference.
	Pace = batch.Minute
	// noise is the fraction of its time for which a task can be throttled although its share
	// suffices: quotas are assigned in slices.
	noise = 50
)

// Correction is the current estimate for the tasks of one group. New creates one.
type Correction struct {
	declared Need
	cpu      batch.Share
	peak     int64
	limit    int64
	reported Need
}

// New begins with the declared need: a CPU need of 0 is a whole processor.
func New(declared Need) *Correction {
	if declared.CPU == 0 {
		declared.CPU = batch.One
	}
	c := &Correction{declared: declared, cpu: min(max(declared.CPU, Least), batch.One)}
	c.reported = c.Need()
	return c
}

// Declared returns the declared need.
func (c *Correction) Declared() Need { return c.declared }

// Take adds a sample.
func (c *Correction) Take(s Sample) {
	c.peak, c.limit = max(c.peak, s.Memory), s.Limit
	if s.Span <= 0 {
		return
	}
	if target, ok := c.target(&s); ok {
		c.cpu = batch.Share(toward(int64(c.cpu), int64(target), s.Span))
	}
}

// target returns the CPU need that a sample shows, if any.
func (c *Correction) target(s *Sample) (batch.Share, bool) {
	switch {
	case s.Throttled <= s.Span/noise:
		return min(max(s.CPU+s.CPU/8, Least), batch.One), true
	case s.Share >= c.cpu:
		return batch.One, true
	case s.CPU > c.cpu: // a measurement outweighs a share
		return min(s.CPU, batch.One), true
	}
	return 0, false
}

// toward moves a value toward another by span/(span+Pace) of the difference, rounded up.
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

// Need returns the current estimate.
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

// Found returns the measured need so far: the estimated CPU need, and the highest use of
// memory, regardless of what the plan uses.
func (c *Correction) Found() Need { return Need{c.cpu, c.peak} }

// Recall adds the measured need of an earlier attempt. It is not reported yet.
func (c *Correction) Recall(found Need) {
	c.cpu = min(max(found.CPU, Least), batch.One)
	c.peak = max(c.peak, found.Memory)
}

// Reported returns the need that was reported last; at first the declared one.
func (c *Correction) Reported() Need { return c.reported }

// Report returns the need if its change since the last report is large enough, and records it
// as reported: any change of memory, and a Step of CPU.
func (c *Correction) Report() (Need, bool) {
	n := c.Need()
	if d := n.CPU - c.reported.CPU; n.Memory == c.reported.Memory && d > -Step && d < Step {
		return n, false
	}
	c.reported = n
	return n, true
}
