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

// SetShare limits the group's processor time to an amount of processors, which can be more
// than one, and returns the limit that it really gets: rounded down to whole microseconds of
// a period, and at least MinShare; use Freeze for none at all. From Unlimited on there is no
// limit. Setting the same share again costs nothing. Without quotas the host uses duty
// cycles.
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
		g.quota = quota{} // its value is unknown
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

// writeV1 writes quota and period, which are two files, in an order in which the share never
// exceeds the larger of old and new, because the kernel refuses more than the parent has.
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

// SetCPUs sets the numbers of the processors on which the group runs; none means all of its
// parent's. Running processes are moved.
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

// SetMemory limits the memory of the group in bytes; 0 means no limit. It also disables swap
// for the group, where the kernel supports that. The kernel kills a program that exceeds the
// limit, and Use counts it: the whole group in version 2, one process in version 1, where the
// owner has to kill the rest. A limit below the current use returns ErrBusy in version 1, if
// the kernel cannot reclaim enough; in version 2 it kills.
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
		// Old kernels, and those without swap accounting, lack these.
		return failed(op, g.name, errors.Join(
			unlessMissing(put("memory.swap.max", swap)), unlessMissing(put("memory.oom.group", "1"))))
	}
	if bytes == 0 {
		amount = "-1"
	}
	// The limit of memory and swap together cannot be below that of memory: one order of the
	// two writes is right for a higher limit, the other for a lower one.
	const memory, both = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
	if err := put(memory, amount); err == nil {
		return failed(op, g.name, unlessMissing(put(both, amount)))
	}
	if err := unlessMissing(put(both, amount)); err != nil {
		return failed(op, g.name, err)
	}
	return failed(op, g.name, put(memory, amount))
}

// unlessMissing ignores a missing file.
func unlessMissing(err error) error {
	if is(err, ErrVanished) {
		return nil
	}
	return err
}

// CPU is an amount of processors in units of 2^-20, like shares of a policy.
type CPU int64

const (
	// Processor is one processor.
	Processor CPU = 1 << 20
	// Unlimited is the share without a limit.
	Unlimited CPU = 1 << 40

	// MinShare is the smallest share that the kernel enforces: 1 ms in each second.
	MinShare = (Processor + 999) / 1000
)

// The kernel's limits of a quota, in microseconds: the longest period and the shortest quota.
const (
	period    = 100_000
	maxPeriod = 1_000_000
	minQuota  = 1_000
)

// quota is the time in microseconds that a group can run in each period. The zero quota was
// never written.
type quota struct {
	run    int64 // or -1, no limit
	period int64
}

// quotaOf returns the quota for a share, rounded down so that the shares of a processor never
// add up to more than it has. A share with a quota too short for the kernel gets a
// longer period, and one that is too small even for the longest gets MinShare.
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

// share returns the share of a quota, rounded down.
func (q quota) share() CPU {
	if q.run < 0 {
		return Unlimited
	}
	return CPU(q.run << 20 / q.period)
}

// times returns the time that c processors have in d. It does not overflow for 4,096
// processors and half an hour.
func (c CPU) times(d time.Duration) time.Duration {
	return time.Duration(int64(c) * (int64(d) >> 10) >> 10)
}

// cycle enforces a share by deciding when the group runs. It does no I/O: the caller
// passes the time and the processor time used.
//
//	credit  ╲   ╱╲   ╱╲        rises with the share, falls with the use
//	─────────╲─╱──╲─╱──╲───    above 0 the group runs, below it is stopped
//	          ╲    ╲           until it has enough for its part of 100 ms
//
// Because the use is measured and not assumed, programs with many threads, programs that
// sleep, and groups on crowded processors all get their share and no more.
type cycle struct {
	share   CPU
	running bool
	credit  time.Duration // processor time that it can still use
	width   CPU           // the processors it uses while it runs
	at      time.Duration // of the last step
	used    time.Duration // processor time used until then
}

const (
	cyclePeriod = 100 * time.Millisecond
	cycleCheck  = cyclePeriod / 4  // the interval of steps while it runs
	cycleLeast  = time.Millisecond // the shortest phase
	// The highest debt, as time of that share. Otherwise a group with late measurements
	// would be stopped for hours.
	cycleDebt = time.Minute
	// The highest amount without overflow. No host has more.
	cycleMost = 4096 * Processor
)

// newCycle begins with a running group that has used that much, and has the credit of one
// period.
func newCycle(share CPU, now, used time.Duration) *cycle {
	return &cycle{
		share: share, running: true, credit: share.times(cyclePeriod), width: Processor, at: now, used: used,
	}
}

// paused skips a time in which the group was frozen, which adds no credit.
func (c *cycle) paused(now, used time.Duration) { c.running, c.at, c.used = true, now, used }

// step decides whether the group runs from now on, and returns when to call it again.
func (c *cycle) step(now, used time.Duration) (run bool, wait time.Duration) {
	passed := min(now-c.at, cycleDebt)
	spent := max(used-c.used, 0)
	c.at, c.used = now, used
	c.credit += c.share.times(passed) - spent
	// The credit is at most one period, the debt is bounded too.
	c.credit = max(min(c.credit, c.share.times(cyclePeriod)), -min(c.share.times(cycleDebt), time.Hour))
	if c.running && passed >= cycleLeast {
		seen := CPU(min(int64(spent), int64(cycleDebt)) << 20 / int64(passed))
		c.width = min(max((c.width+seen)/2, 1), cycleMost)
	}
	over := c.width - c.share // rate at which the credit decreases
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
		// It will run for share/width of a period, and gain credit meanwhile.
		enough = over.times(cyclePeriod * time.Duration(c.share) / time.Duration(c.width))
	}
	wait = (enough - c.credit) << 20 / time.Duration(max(c.share, 1))
	return false, min(max(wait, cycleLeast), cycleDebt)
}

// parseCPUs is the reverse of formatCPUs. An empty text is no processor.
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

// mostCPU is above the highest number of a processor in Linux.
const mostCPU = 1 << 14

// formatCPUs formats numbers of processors like the kernel: 0-2,7.
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
