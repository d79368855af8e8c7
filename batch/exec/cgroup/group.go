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
