package cgroup

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func within(t testing.TB, d time.Duration) context.Context {
	// A cleanup needs the context, when the test's own context has ended.
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// eventually fails the test unless the condition becomes true.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	err := poll(within(t, 20*time.Second), func() (bool, error) { return so(), nil })
	if err != nil {
		t.Fatalf("not within 20 s: %s", what)
	}
}

func use(t testing.TB, g *Group) Use {
	t.Helper()
	u, err := g.Use()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// used returns the fraction of a processor that the group uses during the given time.
func used(t testing.TB, g *Group, d time.Duration) float64 {
	t.Helper()
	begin, before := time.Now(), use(t, g).CPU
	<-time.After(d)
	return float64(use(t, g).CPU-before) / float64(time.Since(begin))
}

// each runs a test for each kind of host that this machine can act as.
func each(t *testing.T, test func(t *testing.T, h *Host)) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			proc := "/proc"
			if way.old {
				proc = oldProc(t)
			}
			h := hostOf(t, proc, way.without...)
			if got := h.Offers().Of(Shares); got != way.shares[0] && got != way.shares[len(way.shares)-1] {
				t.Skipf("this host has no such way: %s", h.Offers()[Shares])
			}
			test(t, h)
		})
	}
}

func TestDetectReportsTheAbilitiesOfThisHost(t *testing.T) {
	t.Logf("\n%s", host(t).Offers())
}

func TestAShareIsEnforced(t *testing.T) {
	each(t, func(t *testing.T, h *Host) {
		g := newTestGroup(t, h, "job")
		// A share that even a crowded machine can give.
		given, err := g.SetShare(Processor / 10)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(given) / float64(Processor); got < 0.0999 || got > 0.1 {
			t.Errorf("given %v of a processor, want 0.1 or a little less", got)
		}
		run(t, g, "spin 2")
		used(t, g, 300*time.Millisecond) // it can begin with the share of a period
		// On a crowded machine it can get less than its share. A duty cycle phase that is
		// cut at the ends counts for 0.025.
		if got := used(t, g, 2*time.Second); got > 0.15 || got < 0.03 {
			t.Errorf("it used %.3f of a processor, want 0.1", got)
		}
		eventually(t, "it is throttled", func() bool {
			u := use(t, g)
			return u.Throttled > 0 && u.Periods > 0 && u.Processes == 1
		})
		if _, err := g.SetShare(Unlimited); err != nil {
			t.Fatal(err)
		}
		used(t, g, 200*time.Millisecond) // the rest of the current period
		before := use(t, g)
		used(t, g, time.Second)
		if after := use(t, g); after.Periods != before.Periods || after.Throttled != before.Throttled {
			t.Errorf("without a limit it was throttled: %+v, then %+v", before, after)
		}
	})
}

func TestPauseReleasesTheProcessorAndThawContinues(t *testing.T) {
	each(t, func(t *testing.T, h *Host) {
		g := newTestGroup(t, h, "job")
		run(t, g, "spin 2")
		if _, err := g.SetShare(Processor / 20); err != nil {
			t.Fatal(err)
		}
		// With such a small share its duty cycle has probably just stopped it. The cycle's
		// continue must not undo the freeze.
		eventually(t, "it is throttled", func() bool { return use(t, g).Periods > 2 })
		if err := g.Freeze(within(t, 10*time.Second)); err != nil {
			t.Fatal(err)
		}
		before := use(t, g).CPU
		if got := used(t, g, 300*time.Millisecond); got > 0 {
			t.Errorf("frozen it used %.3f of a processor", got)
		}
		// A new share does not make it run.
		if _, err := g.SetShare(Processor / 4); err != nil {
			t.Fatal(err)
		}
		if got := used(t, g, 300*time.Millisecond); got > 0 {
			t.Errorf("frozen, with another share, it used %.3f of a processor", got)
		}
		if err := g.Thaw(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it continues", func() bool { return use(t, g).CPU > before+20*time.Millisecond })
	})
}

func TestFreezeEndsWithItsContext(t *testing.T) {
	// A process that cannot be stopped is hard to create, so the context has ended already.
	h := host(t, signals...)
	g := newTestGroup(t, h, "job")
	run(t, g, "spin 1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Freeze(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("freeze with an ended context: %v", err)
	}
}

func TestKillEndsRunningAndFrozenProcesses(t *testing.T) {
	each(t, func(t *testing.T, h *Host) {
		for _, freeze := range []bool{false, true} {
			g := newTestGroup(t, h, "job-"+strconv.FormatBool(freeze))
			p := run(t, g, "spin 1")
			if freeze {
				if err := g.Freeze(within(t, 10*time.Second)); err != nil {
					t.Fatal(err)
				}
			}
			if err := g.Remove(); !errors.Is(err, ErrBusy) {
				t.Errorf("remove with a process in it: %v, want %v", err, ErrBusy)
			}
			if err := g.Kill(within(t, 10*time.Second)); err != nil {
				t.Fatal(err)
			}
			if err := p.Wait(); err == nil {
				t.Error("the program ended well")
			}
			for range 2 {
				if err := g.Remove(); err != nil {
					t.Error(err)
				}
			}
			if _, err := g.SetShare(Processor); !errors.Is(err, ErrVanished) && err == nil {
				t.Errorf("a share of a group that was removed: %v", err)
			}
		}
	})
}

func TestAProcessThatForksAwayStaysInAControlGroup(t *testing.T) {
	h := host(t, Memory)
	need(t, h, Killing)
	g := newTestGroup(t, h, "job")
	p := run(t, g, "leave")
	child, err := strconv.Atoi(p.line(t))
	if err != nil {
		t.Fatal(err)
	}
	if u := use(t, g); u.Processes != 2 {
		t.Errorf("%d processes, want 2", u.Processes)
	}
	if err := g.Kill(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if s, err := h.table.one(child); err == nil && !s.dead() {
		t.Error("the process that forked away lives")
	}
}

func TestAProcessThatForksAwayLeavesAGroupOfSignals(t *testing.T) {
	h := host(t, signals...)
	g := newTestGroup(t, h, "job")
	p := run(t, g, "leave")
	child, err := strconv.Atoi(p.line(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }() // otherwise it ends with its pipe
	if u := use(t, g); u.Processes != 1 {
		t.Errorf("%d processes, want only the remaining one", u.Processes)
	}
	if err := g.Kill(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if s, err := h.table.one(child); err != nil || s.dead() {
		t.Errorf("the process that left: %+v, %v; the documentation says that it lives", s, err)
	}
}

func TestAGroupOfSignalsAcceptsOnlyLeaders(t *testing.T) {
	h := host(t, signals...)
	g := newTestGroup(t, h, "job")
	for _, pid := range []int{os.Getpid(), 0, -1} {
		if err := g.Add(pid); !errors.Is(err, ErrInvalid) {
			t.Errorf("add %d: %v, want %v", pid, err, ErrInvalid)
		}
	}
	if got := g.Procs(); len(got) > 0 {
		t.Errorf("files to write to: %q, want none", got)
	}
}

func TestAddOfAnEndedProcessReportsIt(t *testing.T) {
	each(t, func(t *testing.T, h *Host) {
		p := start(t, "spin 1")
		_ = p.Process.Kill()
		_ = p.Wait() // killed
		if err := newTestGroup(t, h, "job").Add(p.pid()); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("add: %v, want %v", err, os.ErrProcessDone)
		}
	})
}

func TestUseCountsChildrenThatHaveEnded(t *testing.T) {
	each(t, func(t *testing.T, h *Host) {
		g := newTestGroup(t, h, "job")
		run(t, g, "brood")
		begin := time.Now()
		eventually(t, "half a second of processor time", func() bool {
			return use(t, g).CPU > 500*time.Millisecond
		})
		// At most two run at a time: the parent waits, but its threads can run.
		if took := time.Since(begin); took < 250*time.Millisecond {
			t.Errorf("half a second of processor time was counted in %v", took)
		}
	})
}

// Each process forks and ends before it can be observed.
func TestNoProcessOutrunsAKill(t *testing.T) {
	each(t, func(t *testing.T, h *Host) {
		g := newTestGroup(t, h, "job")
		for range 3 {
			run(t, g, "flee")
		}
		eventually(t, "they run", func() bool { return use(t, g).CPU > 50*time.Millisecond })
		if err := g.Kill(within(t, 20*time.Second)); err != nil {
			t.Fatal(err)
		}
		if pids, err := g.Pids(); err != nil || len(pids) > 0 {
			t.Errorf("%v live, %v", pids, err)
		}
	})
}

// A thaw while the cycle holds the group stopped does not make it run.
func TestAThawedGroupKeepsItsShare(t *testing.T) {
	each(t, func(t *testing.T, h *Host) {
		g := newTestGroup(t, h, "job")
		p := run(t, g, "spin 1")
		if _, err := g.SetShare(Processor / 20); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is held back", func() bool { return use(t, g).Periods > 2 })
		for range 5 {
			if err := syscall.Kill(p.pid(), syscall.SIGCONT); err != nil { // as any process of the user can
				t.Fatal(err)
			}
			for _, step := range []func() error{
				g.Thaw, func() error { return g.Freeze(within(t, time.Second)) }, g.Thaw,
			} {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(30 * time.Millisecond)
		}
		if got := used(t, g, time.Second); got > 0.1 {
			t.Errorf("used %.3f of a processor, want 0.05", got)
		}
	})
}

func TestMemoryBeyondTheLimitKillsAndIsCounted(t *testing.T) {
	h := host(t)
	need(t, h, Memory)
	g := newTestGroup(t, h, "job")
	if err := g.SetMemory(64 << 20); err != nil {
		t.Fatal(err)
	}
	p := run(t, g, "hold "+strconv.Itoa(20<<20))
	if got := p.line(t); got != "held" {
		t.Fatalf("said %q", got)
	}
	if u := use(t, g); u.Memory < 20<<20 || u.Peak < u.Memory || u.OOMKills != 0 {
		t.Errorf("use within the limit: %+v", u)
	}
	large := run(t, g, "hold "+strconv.Itoa(100<<20))
	var exit interface{ Sys() any }
	if err := large.Wait(); err == nil {
		t.Error("100 MiB were held under a limit of 64 MiB")
	} else if errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
			t.Errorf("the process ended with %v, want SIGKILL", err)
		}
	}
	if u := use(t, g); u.OOMKills == 0 || u.Peak > 65<<20 {
		t.Errorf("use after the kernel has killed: %+v", u)
	}
	// More, less, none, in each order.
	for _, bytes := range []int64{256 << 20, 128 << 20, 0, 128 << 20} {
		if err := g.SetMemory(bytes); err != nil {
			t.Errorf("limit of %d bytes: %v", bytes, err)
		}
		tree, file := h.by[Memory], "/memory.limit_in_bytes"
		if tree.v2 {
			file = "/memory.max"
		}
		text, err := files{}.read(tree.dir("job") + file)
		if got := strings.TrimSpace(text); err != nil || bytes > 0 && got != strconv.FormatInt(bytes, 10) {
			t.Errorf("limit of %d bytes: it is %s, %v", bytes, got, err)
		}
	}
}

func TestProcessorsAreSet(t *testing.T) {
	h := host(t, Memory)
	need(t, h, Processors)
	g := newTestGroup(t, h, "job")
	run(t, g, "spin 2")
	for _, cpus := range [][]int{{0}, nil, {0}} {
		if err := g.SetCPUs(cpus); err != nil {
			t.Fatal(err)
		}
	}
	if got := used(t, g, time.Second); got > 1.05 {
		t.Errorf("on one processor it used %.2f", got)
	}
	if err := g.SetCPUs([]int{100_000}); !errors.Is(err, ErrRefused) {
		t.Errorf("processor 100000: %v, want %v", err, ErrRefused)
	}
	if err := g.SetCPUs([]int{-1}); !errors.Is(err, ErrInvalid) {
		t.Errorf("processor -1: %v, want %v", err, ErrInvalid)
	}
}

func TestTheKernelAcceptsEveryQuota(t *testing.T) {
	h := host(t, Memory)
	need(t, h, Shares)
	g := newTestGroup(t, h, "job")
	run(t, g, "spin 2")
	for _, share := range []CPU{0, 1, MinShare, Processor / 500, Processor, MinShare, 100 * Processor, 0} {
		given, err := g.SetShare(share)
		if err != nil || given > max(share, MinShare) {
			t.Errorf("share %d: given %d, %v", share, given, err)
		}
	}
	used(t, g, time.Second) // pays back the overrun
	if got := used(t, g, 4*time.Second); got > 0.02 {
		t.Errorf("with the least share it used %.4f of a processor", got)
	}
}
