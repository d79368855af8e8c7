package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Two hosts of one process are two owners.
func TestAProcessorHasOneOwnerAtATime(t *testing.T) {
	a, b := host(t, Memory), host(t, Memory)
	need(t, a, Processors)
	all, err := affinity()
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.ClaimCPUs(1)
	if errors.Is(err, ErrTaken) {
		t.Skip(err) // another process on this machine has claimed them
	}
	if err != nil || len(got) != 1 || !slices.Contains(all, got[0]) {
		t.Fatalf("%v, %v, of %v", got, err, all)
	}
	for name, h := range map[string]*Host{"another owner": b, "the same": a} {
		if more, err := h.ClaimCPUs(len(all)); !errors.Is(err, ErrTaken) {
			t.Errorf("%s gets %v too: %v", name, more, err)
		}
	}
	for _, n := range []int{0, -1, len(all) + 1} {
		if got, err := b.ClaimCPUs(n); !errors.Is(err, ErrTaken) {
			t.Errorf("%d: %v, %v", n, got, err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	// The failed claim holds no processors.
	eventually(t, "what a closed host had is free", func() bool {
		again, err := b.ClaimCPUs(1)
		return err == nil && again[0] == got[0]
	})
}

func TestOnlyUsableProcessorsAreClaimed(t *testing.T) {
	all, err := affinity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("taskset"); err != nil || len(all) < 2 {
		t.Skip("no taskset, or one processor only")
	}
	last := all[len(all)-1]
	cmd := exec.Command("taskset", "-c", formatCPUs([]int{last}), os.Args[0], "-test.run=^TestUsable$", "-test.v")
	cmd.Env = append(os.Environ(), "CGROUP_TEST_USABLE="+formatCPUs([]int{last}))
	text, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(text), "SKIP") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestOnlyUsableProcessorsAreClaimed runs TestUsable.
func TestUsable(t *testing.T) {
	want := os.Getenv("CGROUP_TEST_USABLE")
	if want == "" {
		t.Skip("no usable processors given")
	}
	h := host(t, Memory)
	if h.by[Processors] == nil {
		return
	}
	got, err := h.usable(h.by[Processors])
	if err != nil || formatCPUs(got) != want {
		t.Errorf("usable: %v, %v, want %s", got, err, want)
	}
}

func TestGroupsOfAnEarlierProcessInAnotherGroupAreFound(t *testing.T) {
	f, proc := newFake(t, allV2...)
	first := detectFake(t, f, proc, Config{Parent: "/"})
	newTestGroup(t, first, "job")
	if err := f.mkdir("/v2/session"); err != nil {
		t.Fatal(err)
	}
	former := append(first.Places(), "/v2/drover-other", "/etc/drover-a1", "/v2/gone/drover-a1",
		"/v2/session/../drover-a1")
	next := detectFake(t, f, proc, Config{Parent: "/session", Former: former})
	if got := next.Places(); !slices.Equal(got, []string{"/v2/session/drover-a1", "/v2/drover-a1"}) {
		t.Errorf("places: %v", got)
	}
	if names, err := next.List(); err != nil || !slices.Equal(names, []string{"job"}) {
		t.Errorf("list: %v, %v", names, err)
	}
	g, err := next.Find("job")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Procs(); !slices.Equal(got, []string{"/v2/drover-a1/g-job/cgroup.procs"}) {
		t.Errorf("%v", got)
	}
	if _, err := g.SetShare(Processor / 2); err != nil || f.files["/v2/drover-a1/g-job/cpu.max"] != "50000 100000" {
		t.Errorf("%v, cpu.max is %q", err, f.files["/v2/drover-a1/g-job/cpu.max"])
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Find("job"); !errors.Is(err, ErrNotFound) {
		t.Errorf("once removed: %v", err)
	}
	if got := newTestGroup(t, next, "job").Procs(); !slices.Equal(got,
		[]string{"/v2/session/drover-a1/g-job/cgroup.procs"}) {
		t.Errorf("a new one: %v", got)
	}
	if g, err := next.Find("job"); err != nil || g.Remove() != nil {
		t.Error(err)
	}
}

func TestAGroupLeftStoppedContinuesWithItsShare(t *testing.T) {
	t.Run("freezer", func(t *testing.T) {
		h := host(t, Shares, Processors, Memory)
		need(t, h, Pausing)
		g := newTestGroup(t, h, "job")
		run(t, g, "spin 1")
		if err := g.setStopped(true); err != nil { // without a record
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

func TestCloseContinuesStoppedGroups(t *testing.T) {
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
