package cgroup

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

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
			t.Errorf("it ended with %v, want SIGKILL", err)
		}
	}
	if u := use(t, g); u.OOMKills == 0 || u.Peak > 65<<20 {
		t.Errorf("use after the kernel has killed: %+v", u)
	}
	// More, less, none: in each order.
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
	used(t, g, time.Second) // to pay what it has overrun
	if got := used(t, g, 4*time.Second); got > 0.02 {
		t.Errorf("with the least share it used %.4f of a processor", got)
	}
}
