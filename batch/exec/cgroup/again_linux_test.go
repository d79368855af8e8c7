package cgroup

import (
	"errors"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestOneThatWasLeftStoppedGoesOnWithItsShare(t *testing.T) {
	t.Run("freezer", func(t *testing.T) {
		h := host(t, Shares, Processors, Memory)
		need(t, h, Pausing)
		g := newTestGroup(t, h, "job")
		run(t, g, "spin 1")
		if err := g.setStopped(true); err != nil { // and nobody noted it
			t.Fatal(err)
		}
		if _, err := g.SetShare(Processor / 2); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it runs", func() bool { return use(t, g).CPU > 50*time.Millisecond })
	})
	for _, first := range []string{"share", "process"} {
		t.Run("signals, first its "+first, func(t *testing.T) {
			h := host(t, signals...)
			g := newTestGroup(t, h, "job")
			p := start(t, "spin 1")
			p.letGo(t)
			if err := syscall.Kill(p.pid(), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			steps := []func() error{
				func() error { _, err := g.SetShare(Processor / 2); return err },
				func() error { return g.Add(p.pid()) },
			}
			if first == "process" {
				slices.Reverse(steps)
			}
			for _, step := range steps {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "it runs", func() bool { return use(t, g).CPU > 50*time.Millisecond })
		})
	}
}

func TestAnotherProcessFindsTheGroupsAgain(t *testing.T) {
	h := host(t, Memory)
	need(t, h, Pausing)
	g := newTestGroup(t, h, "job")
	run(t, g, "spin 1")
	if _, err := h.Make("job"); !errors.Is(err, ErrExists) {
		t.Errorf("make it again: %v, want %v", err, ErrExists)
	}
	next, err := Detect(h.config)
	if err != nil {
		t.Fatal(err)
	}
	names, err := next.List()
	if err != nil || len(names) != 1 || names[0] != "job" {
		t.Fatalf("list: %q, %v", names, err)
	}
	if _, err := next.Find("other"); !errors.Is(err, ErrNotFound) {
		t.Errorf("find another: %v, want %v", err, ErrNotFound)
	}
	found, err := next.Find("job")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := found.SetShare(Processor / 10); err != nil {
		t.Error(err)
	}
	if use(t, found).Processes != 1 {
		t.Error("the process is not in it")
	}
	end(t, found)
	if _, err := g.Use(); !errors.Is(err, ErrVanished) {
		t.Errorf("use of a group that another has removed: %v, want %v", err, ErrVanished)
	}
	if _, err := g.SetShare(Processor / 3); !errors.Is(err, ErrVanished) {
		t.Errorf("share of a group that another has removed: %v, want %v", err, ErrVanished)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseLetsStoppedGroupsRun(t *testing.T) {
	h := host(t, signals...)
	var programs []*program
	for i := range 5 {
		g := newTestGroup(t, h, strconv.Itoa(i))
		if _, err := g.SetShare(MinShare); err != nil {
			t.Fatal(err)
		}
		programs = append(programs, run(t, g, "spin 1"))
	}
	stopped := func(p *program) bool {
		s, err := h.table.one(p.pid())
		return err == nil && s.state == 'T'
	}
	for _, p := range programs {
		eventually(t, "it is stopped", func() bool { return stopped(p) })
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		eventually(t, "it runs", func() bool { return !stopped(p) })
	}
}
