package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
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
