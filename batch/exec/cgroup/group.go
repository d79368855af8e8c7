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
)

// Group is a set of processes and all that they start: where the host offers
// control groups, nobody leaves it; where it has only signals, a group is the
// process groups that were added, and a program that makes a process group or a
// session of its own has left. Its methods may be called from anywhere.
type Group struct {
	host *Host
	name string
	at   map[*tree]string // its directories where others than this life have made it

	mu      sync.Mutex
	removed bool
	frozen  bool
	quota   quota    // the last that was written
	peak    int64    // the most memory that was seen
	members *members // who is in it, where the host has only signals; else nil
	paced   *paced   // its duty cycles, while it has any
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

// Name returns the name it was made under.
func (g *Group) Name() string { return g.name }

// Procs returns the files that a process's number is to be written to, all of
// them, before it executes its program. They are none where the host has only
// signals: then Add takes the process. A writer needs no more than their names,
// and may be another process than this one.
func (g *Group) Procs() []string {
	var all []string
	for _, t := range g.host.trees {
		all = append(all, filepath.Join(g.dir(t), "cgroup.procs"))
	}
	return all
}

// Add puts a process into the group. What it has started before stays where it
// is. Where the host has only signals, the process must lead its process group,
// and all of that is added. A process that has ended is os.ErrProcessDone.
func (g *Group) Add(pid int) error {
	const op = "add a process"
	if pid <= 0 {
		// 0 would be this process, to the kernel.
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

// align has one who was just added stop or go on as the others do. A process
// that was killed in a duty cycle may have left it stopped.
func (g *Group) align() {
	switch {
	case g.frozen, g.paced != nil && !g.paced.cycle.running:
		_ = g.members.signal(syscall.SIGSTOP) // an error means that it has ended
	case g.paced != nil:
		_ = g.members.signal(syscall.SIGCONT) // likewise
	}
}

// Pids returns the numbers of the processes in the group, in no order. Dead ones
// that nobody has reaped do not count.
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
		// 0 is a process that this one's namespace cannot name.
		if pid != 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// home is the tree whose members count: the one that can stop them, or any.
func (g *Group) home() *tree {
	for _, a := range []Ability{Killing, Pausing} {
		if t := g.host.by[a]; t != nil {
			return t
		}
	}
	return g.host.trees[0]
}

// Remove forgets the group, which must be empty: it is ErrBusy while processes
// are in it. Removing it twice is no error.
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
	// A process that is about to end is no more listed, and still counted.
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

// poll asks again, at growing intervals of up to 10 ms, until it is so, fails,
// or ctx ends. The kernel tells of few of these things.
func poll(ctx context.Context, so func() (bool, error)) error {
	pause := 100 * time.Microsecond
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if ok, err := so(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), os.ErrDeadlineExceeded)
		case <-timer.C:
			pause = min(2*pause, 10*time.Millisecond)
			timer.Reset(pause)
		}
	}
}

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
