package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Group is a set of processes and all that they start. With control groups no process can
// leave it. With only signals it consists of the process groups that were added, and a
// program that creates a process group or a session has left it. Its methods may be called
// from several goroutines.
type Group struct {
	host *Host
	name string
	at   map[*tree]string // its directories, where an earlier process has created it

	mu      sync.Mutex
	removed bool
	frozen  bool
	quota   quota    // last written
	peak    int64    // the highest memory use that was read
	members *members // its processes, if the host has only signals; else nil
	paced   *paced   // its duty cycle, while it has one
}

func newGroup(h *Host, name string) *Group {
	g := &Group{host: h, name: name}
	if h.offers.Of(Pausing) == Signals || h.offers.Of(Killing) == Signals || h.offers.Of(Measuring) == Signals {
		g.members = newMembers(h.table)
	}
	return g
}

// dir returns its directory in a tree.
func (g *Group) dir(t *tree) string {
	if at, elsewhere := g.at[t]; elsewhere {
		return at
	}
	return t.dir(g.name)
}

// Name returns the name it was created with.
func (g *Group) Name() string { return g.name }

// Procs returns the files that a process must write its number to, all of them, before it
// executes its program. There are none if the host has only signals: then call Add. Another
// process than this one may write them.
func (g *Group) Procs() []string {
	var all []string
	for _, t := range g.host.trees {
		all = append(all, filepath.Join(g.dir(t), "cgroup.procs"))
	}
	return all
}

// Add puts a process into the group. Processes that it has already started stay where they
// are. If the host has only signals, the process must lead its process group, and the whole
// process group is added. For a process that has ended Add returns os.ErrProcessDone.
func (g *Group) Add(pid int) error {
	const op = "add a process"
	if pid <= 0 {
		// The kernel takes 0 for this process.
		return &Error{Op: op, Group: g.name, Kind: ErrInvalid, Err: fmt.Errorf("process number %d", pid)}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.removed {
		return &Error{Op: op, Group: g.name, Kind: ErrVanished}
	}
	if g.members != nil {
		if err := g.members.add(pid); err != nil {
			return failed(op, g.name, err)
		}
		if g.host.offers.Of(Pausing) == Signals {
			g.align()
		}
	}
	for _, file := range g.Procs() {
		if err := g.host.kernel.write(file, strconv.Itoa(pid)); err != nil {
			return failed(op, g.name, err)
		}
	}
	return nil
}

// align stops or continues an added process like the others. A process that was killed in the
// middle of a duty cycle may have left it stopped.
func (g *Group) align() {
	switch {
	case g.frozen, g.paced != nil && !g.paced.cycle.running:
		_ = g.members.signal(syscall.SIGSTOP) // an error means that it has ended
	case g.paced != nil:
		_ = g.members.signal(syscall.SIGCONT) // an error means that it has ended
	}
}

// Pids returns the processes in the group, in no order and without zombies.
func (g *Group) Pids() ([]int, error) {
	pids, err := g.pids()
	return pids, failed("list processes", g.name, err)
}

func (g *Group) pids() ([]int, error) {
	if len(g.host.trees) == 0 {
		return g.members.pids()
	}
	text, err := g.host.kernel.read(filepath.Join(g.dir(g.home()), "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for field := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("cgroup.procs: %w", err)
		}
		// 0 is a process outside this PID namespace.
		if pid != 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// home is the tree that defines membership: the one that can pause, or any.
func (g *Group) home() *tree {
	for _, a := range []Ability{Killing, Pausing} {
		if t := g.host.by[a]; t != nil {
			return t
		}
	}
	return g.host.trees[0]
}

// Remove removes the group. It returns ErrBusy while processes are in it. Removing it twice
// is not an error.
func (g *Group) Remove() error {
	const op = "remove"
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.removed {
		return nil
	}
	if g.members != nil && len(g.host.trees) == 0 {
		pids, err := g.members.pids()
		if err == nil && len(pids) > 0 {
			err = fmt.Errorf("%d processes are in it: %w", len(pids), syscall.EBUSY)
		}
		if err != nil {
			return failed(op, g.name, err)
		}
	}
	// A process that is about to end is no longer listed, but still counted.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, t := range g.host.trees {
		err := poll(ctx, func() (bool, error) {
			err := g.host.kernel.rmdir(g.dir(t))
			if is(err, ErrBusy) {
				pids, listing := g.pids()
				return false, errors.Join(listing, stillIn(pids))
			}
			return true, err
		})
		if err != nil && !is(err, ErrVanished) {
			return failed(op, g.name, err)
		}
	}
	g.removed = true
	g.unpace()
	g.host.forget(g)
	return nil
}

func stillIn(pids []int) error {
	if len(pids) == 0 {
		return nil
	}
	return fmt.Errorf("%d processes are in it: %w", len(pids), syscall.EBUSY)
}

func (h *Host) forget(g *Group) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups[g.name] == g {
		delete(h.groups, g.name)
	}
}

// poll repeats cond, at growing intervals of up to 10 ms, until it is true, fails, or ctx
// ends. The kernel has no notification for most of these conditions.
func poll(ctx context.Context, cond func() (bool, error)) error {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: 100 * time.Microsecond, Multiplier: 2, MaxInterval: 10 * time.Millisecond,
	}
	timer := time.NewTimer(pauses.NextBackOff())
	defer timer.Stop()
	for {
		if ok, err := cond(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), os.ErrDeadlineExceeded)
		case <-timer.C:
			timer.Reset(pauses.NextBackOff())
		}
	}
}

// Use is what a group has used since its creation. What the host cannot measure is 0.
type Use struct {
	CPU       time.Duration // processor time on all processors, including that of ended processes
	Throttled time.Duration // how long runnable processes waited because of the share
	Periods   int64         // the number of quota periods, or duty cycles, with such a wait
	Memory    int64         // bytes charged now, including page cache
	Cache     int64         // of those, page cache that the kernel can reclaim at once
	Peak      int64         // the highest number of bytes charged
	OOMKills  int64         // processes killed by the memory limit
	Processes int           // now in the group
}

// Use measures the group. If the host has only signals, processor time is that of the
// processes in its process groups: one that lives for less than a second counts when its
// parent has reaped it. Memory is then their resident memory, and its peak the highest value
// that was read.
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
		u.Throttled, u.Periods = g.paced.waits()
	}
	if t := g.host.by[Memory]; t != nil {
		return u, g.memory(t, &u)
	}
	return u, nil
}

// cpuTime reads the processor time of the group in that directory.
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
	// Before 5.19 version 2 has no peak: use the highest value read.
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
