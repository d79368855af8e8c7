package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SetShare holds the group to an amount of processors, which may be more than
// one, and returns what it really gets. That is rounded down to whole
// microseconds of a period, and never less than MinShare: who is to get nothing
// is frozen. From Unlimited on there is no limit. Setting what is set costs
// nothing. Where the host has no quota, duty cycles do it.
func (g *Group) SetShare(share CPU) (CPU, error) {
	const op = "set share"
	if share < 0 {
		return 0, &Error{Op: op, Group: g.name, Kind: ErrInvalid, Err: fmt.Errorf("share %d", share)}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.removed {
		return 0, &Error{Op: op, Group: g.name, Kind: ErrVanished}
	}
	want := quotaOf(share)
	t := g.host.by[Shares]
	if t == nil {
		g.pace(want.share())
		return want.share(), nil
	}
	if want == g.quota {
		return want.share(), nil
	}
	write := g.writeV1
	if t.v2 {
		write = g.writeV2
	}
	if err := write(g.dir(t), want); err != nil {
		g.quota = quota{} // nobody knows
		return 0, failed(op, g.name, err)
	}
	g.quota = want
	return want.share(), nil
}

func (g *Group) writeV2(dir string, want quota) error {
	run := "max"
	if want.run >= 0 {
		run = strconv.FormatInt(want.run, 10)
	}
	return g.host.kernel.write(filepath.Join(dir, "cpu.max"), run+" "+strconv.FormatInt(want.period, 10))
}

// writeV1 writes quota and period, which are two files: in an order in which the
// share is never more than the larger of old and new, as more may be more than
// the group above has.
func (g *Group) writeV1(dir string, want quota) error {
	run := func() error {
		if want.run == g.quota.run {
			return nil
		}
		return g.host.kernel.write(filepath.Join(dir, "cpu.cfs_quota_us"), strconv.FormatInt(want.run, 10))
	}
	length := func() error {
		if want.period == g.quota.period {
			return nil
		}
		return g.host.kernel.write(filepath.Join(dir, "cpu.cfs_period_us"), strconv.FormatInt(want.period, 10))
	}
	order := []func() error{length, run}
	if g.quota.period == 0 || want.period > g.quota.period {
		order = []func() error{run, length}
	}
	for _, step := range order {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// SetCPUs says on which processors, by number, the group runs; none means on all
// that the group above has. What runs elsewhere is moved.
func (g *Group) SetCPUs(cpus []int) error {
	const op = "set processors"
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(cpus) > 0 && slices.Min(cpus) < 0 {
		return &Error{Op: op, Group: g.name, Kind: ErrInvalid, Err: fmt.Errorf("processor %d", slices.Min(cpus))}
	}
	t, err := g.host.place(Processors)
	if err != nil {
		return &Error{Op: op, Group: g.name, Kind: ErrNotOffered, Err: err}
	}
	if !t.v2 && len(cpus) == 0 {
		return failed(op, g.name, inheritSet(g.host.kernel, filepath.Dir(g.dir(t)), g.dir(t)))
	}
	err = g.host.kernel.write(filepath.Join(g.dir(t), "cpuset.cpus"), formatCPUs(cpus))
	return failed(op, g.name, err)
}

// SetMemory limits the memory of the group in bytes; 0 means no limit. The group
// gets no swap instead, where the kernel can say so. A program that needs more
// is killed by the kernel, and Use counts it: the whole group under the second
// version of control groups, one process under the first, so that whoever owns
// the group kills the rest. A limit below what is in use is ErrBusy under the
// first version, if the kernel cannot make room; under the second it kills.
func (g *Group) SetMemory(bytes int64) error {
	const op = "set memory"
	if bytes < 0 {
		return &Error{Op: op, Group: g.name, Kind: ErrInvalid, Err: fmt.Errorf("%d bytes", bytes)}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t, err := g.host.place(Memory)
	if err != nil {
		return &Error{Op: op, Group: g.name, Kind: ErrNotOffered, Err: err}
	}
	put := func(file, text string) error {
		return g.host.kernel.write(filepath.Join(g.dir(t), file), text)
	}
	amount := strconv.FormatInt(bytes, 10)
	if t.v2 {
		swap := "0"
		if bytes == 0 {
			amount, swap = "max", "max"
		}
		if err := put("memory.max", amount); err != nil {
			return failed(op, g.name, err)
		}
		// Kernels without swap accounting, and old ones, lack these.
		return failed(op, g.name, errors.Join(
			unlessMissing(put("memory.swap.max", swap)), unlessMissing(put("memory.oom.group", "1"))))
	}
	if bytes == 0 {
		amount = "-1"
	}
	// Memory and swap together may never be less than memory alone: of the two
	// writes one order is right for more, the other for less.
	const memory, both = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
	if err := put(memory, amount); err == nil {
		return failed(op, g.name, unlessMissing(put(both, amount)))
	}
	if err := unlessMissing(put(both, amount)); err != nil {
		return failed(op, g.name, err)
	}
	return failed(op, g.name, put(memory, amount))
}

// unlessMissing passes over the lack of a file.
func unlessMissing(err error) error {
	if is(err, ErrVanished) {
		return nil
	}
	return err
}

// CPU is an amount of processors in units of 2^-20, those of a policy's shares.
type CPU int64

const (
	// Processor is one processor.
	Processor CPU = 1 << 20
	// Unlimited is the share that is no limit at all.
	Unlimited CPU = 1 << 40

	// MinShare is the least that the kernel holds a group to: 1 ms each second.
	MinShare = (Processor + 999) / 1000
)

// The kernel's limits of a quota, in microseconds: neither may a period be
// longer than maxPeriod, nor a quota shorter than minQuota.
const (
	period    = 100_000
	maxPeriod = 1_000_000
	minQuota  = 1_000
)

// quota is the time in microseconds that a group may run in each period. The
// zero quota is none that was ever written.
type quota struct {
	run    int64 // or -1, no limit
	period int64
}

// quotaOf returns the quota for a share, rounded down so that the shares of a
// processor together are never more than it has. A share whose quota would be
// too short for the kernel has a longer period, and one that is too small even
// for the longest gets MinShare.
func quotaOf(share CPU) quota {
	if share >= Unlimited {
		return quota{run: -1, period: period}
	}
	run := int64(share) * period >> 20
	if run >= minQuota {
		return quota{run: run, period: period}
	}
	if share < MinShare {
		return quota{run: minQuota, period: maxPeriod}
	}
	// minQuota / long <= share: the period is rounded up.
	long := (minQuota<<20 + int64(share) - 1) / int64(share)
	return quota{run: minQuota, period: min(long, maxPeriod)}
}

// share returns what a quota really gives, rounded down.
func (q quota) share() CPU {
	if q.run < 0 {
		return Unlimited
	}
	return CPU(q.run << 20 / q.period)
}

// times returns the time that c processors have in d. It holds for 4,096
// processors and half an hour.
func (c CPU) times(d time.Duration) time.Duration {
	return time.Duration(int64(c) * (int64(d) >> 10) >> 10)
}

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

// parseCPUs is the reverse of formatCPUs. No processor at all is an empty text.
func parseCPUs(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		if part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to < from || to > mostCPU || len(all) > mostCPU {
			return nil, fmt.Errorf("processors %q: want numbers up to %d and ranges of them", text, mostCPU)
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all, nil
}

// mostCPU is above the number of any processor that Linux has.
const mostCPU = 1 << 14

// formatCPUs writes numbers of processors as the kernel reads them: 0-2,7.
func formatCPUs(cpus []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var b strings.Builder
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(sorted[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(sorted[j]))
		}
		i = j + 1
	}
	return b.String()
}
