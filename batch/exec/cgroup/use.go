package cgroup

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Use is what a group has used since it was made. What the host cannot tell is 0.
type Use struct {
	CPU       time.Duration // processor time, of all processors, of the ended too
	Throttled time.Duration // how long processes that could run were kept from it by the share
	Periods   int64         // in how many periods of the quota, or duty cycles, that was so
	Memory    int64         // bytes charged to it now, files' pages that it read included
	Cache     int64         // of those, files' pages the kernel can take back at once
	Peak      int64         // the most bytes that were ever charged
	OOMKills  int64         // processes killed for want of memory
	Processes int           // that are in it now
}

// Use measures the group. Where the host has only signals, processor time is
// that of the processes in its process groups: one that lived for less than a
// second counts when its parent has waited for it. Memory is then their resident
// memory, and its peak the largest that was seen.
func (g *Group) Use() (Use, error) {
	const op = "measure"
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.removed {
		return Use{}, &Error{Op: op, Group: g.name, Kind: ErrVanished}
	}
	use, err := g.use()
	return use, failed(op, g.name, err)
}

func (g *Group) use() (Use, error) {
	var u Use
	pids, err := g.pids()
	if err != nil {
		return u, err
	}
	u.Processes = len(pids)
	if g.members != nil {
		seen, err := g.members.measure()
		if err != nil {
			return u, err
		}
		u.CPU, u.Memory, u.Peak = seen.cpu, seen.memory, seen.peak
	}
	if t := g.host.by[Measuring]; t != nil {
		if u.CPU, err = g.host.cpuTime(t, g.dir(t)); err != nil {
			return u, err
		}
	}
	if t := g.host.by[Shares]; t != nil {
		if err := g.throttling(t, &u); err != nil {
			return u, err
		}
	} else if g.paced != nil {
		u.Throttled, u.Periods = g.paced.told()
	}
	if t := g.host.by[Memory]; t != nil {
		return u, g.memory(t, &u)
	}
	return u, nil
}

// cpuTime reads the processor time of the group with that directory.
func (h *Host) cpuTime(t *tree, dir string) (time.Duration, error) {
	if !t.v2 {
		n, err := h.number(filepath.Join(dir, "cpuacct.usage"))
		return time.Duration(n), err
	}
	text, err := h.kernel.read(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return 0, err
	}
	n, ok := field(text, "usage_usec")
	if !ok {
		return 0, fmt.Errorf("%s/cpu.stat has no usage_usec", dir)
	}
	return time.Duration(n) * time.Microsecond, nil
}

func (g *Group) throttling(t *tree, u *Use) error {
	text, err := g.host.kernel.read(filepath.Join(g.dir(t), "cpu.stat"))
	if err != nil {
		return err
	}
	u.Periods, _ = field(text, "nr_throttled")
	if us, ok := field(text, "throttled_usec"); ok {
		u.Throttled = time.Duration(us) * time.Microsecond
	} else if ns, ok := field(text, "throttled_time"); ok {
		u.Throttled = time.Duration(ns)
	}
	return nil
}

func (g *Group) memory(t *tree, u *Use) (err error) {
	dir := g.dir(t)
	files := [...]string{"memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"}
	if t.v2 {
		files = [...]string{"memory.current", "memory.peak", "memory.events"}
	}
	if u.Memory, err = g.host.number(filepath.Join(dir, files[0])); err != nil {
		return err
	}
	// Before 5.19 the second version knew no peak: it is the most we saw.
	if u.Peak, err = g.host.number(filepath.Join(dir, files[1])); unlessMissing(err) != nil {
		return err
	}
	g.peak = max(g.peak, u.Memory, u.Peak)
	u.Peak = g.peak
	text, err := g.host.kernel.read(filepath.Join(dir, files[2]))
	if err != nil {
		return err
	}
	u.OOMKills, _ = field(text, "oom_kill")
	if text, err = g.host.kernel.read(filepath.Join(dir, "memory.stat")); err != nil {
		return err
	}
	key := "total_inactive_file"
	if t.v2 {
		key = "inactive_file"
	}
	u.Cache, _ = field(text, key)
	return nil
}

func (h *Host) number(path string) (int64, error) {
	text, err := h.kernel.read(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
}
