package cgroup

import "time"

// A cycle holds a group to its share by saying when it runs: a core, which is
// told the time and the processor time used, and looks at neither itself.
//
//	credit  ╲   ╱╲   ╱╲        rises with the share, falls with the use
//	─────────╲─╱──╲─╱──╲───    above 0 the group runs, below it is stopped
//	          ╲    ╲           until it has enough for its part of 100 ms
//
// As use is measured and not assumed, programs with many threads, those that
// wait for something, and processors that are crowded all get their share and no
// more.
type cycle struct {
	share   CPU
	running bool
	credit  time.Duration // processor time that it may still use
	width   CPU           // how many processors it uses while it runs
	at      time.Duration // when the last step was
	used    time.Duration // how much had been used then
}

const (
	cyclePeriod = 100 * time.Millisecond
	cycleCheck  = cyclePeriod / 4  // a running group is looked at again after this
	cycleLeast  = time.Millisecond // no phase is shorter
	// A debt of more than that much share is forgotten. Else a group whose use
	// became known late would be stopped for hours.
	cycleDebt = time.Minute
	// Arithmetic holds up to here. More is no limit that a host could reach.
	cycleMost = 4096 * Processor
)

// newCycle begins with a group that runs, has used that much, and may begin
// with a period's share.
func newCycle(share CPU, now, used time.Duration) *cycle {
	return &cycle{
		share: share, running: true, credit: share.times(cyclePeriod), width: Processor, at: now, used: used,
	}
}

// paused passes over a time in which the group was frozen, which earns nothing.
func (c *cycle) paused(now, used time.Duration) { c.running, c.at, c.used = true, now, used }

// step says whether the group runs from now on, and when to ask again.
func (c *cycle) step(now, used time.Duration) (run bool, wait time.Duration) {
	passed := min(now-c.at, cycleDebt)
	spent := max(used-c.used, 0)
	c.at, c.used = now, used
	c.credit += c.share.times(passed) - spent
	// Nobody saves up more than one period, nor owes for ever.
	c.credit = max(min(c.credit, c.share.times(cyclePeriod)), -min(c.share.times(cycleDebt), time.Hour))
	if c.running && passed >= cycleLeast {
		seen := CPU(min(int64(spent), int64(cycleDebt)) << 20 / int64(passed))
		c.width = min(max((c.width+seen)/2, 1), cycleMost)
	}
	over := c.width - c.share // used faster than it is earned
	if c.credit > 0 {
		c.running = true
		wait = cycleCheck
		if over > 0 {
			wait = min(wait, c.credit<<20/time.Duration(over))
		}
		return true, max(wait, cycleLeast)
	}
	c.running = false
	var enough time.Duration
	if over > 0 {
		// It will run for share/width of a period, and earn while it does.
		enough = over.times(cyclePeriod * time.Duration(c.share) / time.Duration(c.width))
	}
	wait = (enough - c.credit) << 20 / time.Duration(max(c.share, 1))
	return false, min(max(wait, cycleLeast), cycleDebt)
}
