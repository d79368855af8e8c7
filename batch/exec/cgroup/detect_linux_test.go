package cgroup

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func detectFake(t *testing.T, f *fake, proc string, config Config) *Host {
	t.Helper()
	config.Name = "a1"
	h, err := detect(config, f, proc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func wayOf(o Offers) string {
	var b strings.Builder
	for a := range abilities {
		b.WriteString(o.Of(a).String() + " ")
	}
	return strings.TrimSpace(b.String())
}

var allV2 = []string{"cpu", "cpuset", "memory"}

func TestAServiceStepsAsideToEnableControllers(t *testing.T) {
	f, proc := newFake(t, allV2...)
	h := detectFake(t, f, proc, Config{StepAside: true})
	if got := wayOf(h.Offers()); got != "v2 v2 v2 v2 v2 v2" {
		t.Fatalf("%s\n%s", got, h.Offers())
	}
	if !f.groups["/v2/site.service/drover-a1-self"] {
		t.Error("it did not step aside")
	}
	g := newTestGroup(t, h, "job")
	f.writes = nil
	for range 3 {
		if _, err := g.SetShare(Processor / 2); err != nil {
			t.Error(err)
		}
	}
	if len(f.writes) != 1 {
		t.Errorf("the same share thrice: %q, want one write", f.writes)
	}
	if err := g.SetMemory(1 << 30); err != nil {
		t.Error(err)
	}
	const dir = "/v2/site.service/drover-a1/g-job"
	for file, want := range map[string]string{"cpu.max": "50000 100000", "memory.max": "1073741824"} {
		if got := f.files[dir+"/"+file]; got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	if u := use(t, g); u.Memory != 5000 || u.Peak != 5000 || u.Cache != 1000 || u.OOMKills != 2 {
		t.Errorf("use: %+v", u)
	}
	if got := g.Procs(); !slices.Equal(got, []string{dir + "/cgroup.procs"}) {
		t.Errorf("files to write to: %q", got)
	}
	// A process that it starts is in the new group and finds the same groups.
	f.surroundings(t, proc, "41 31 0:38 / /v2 rw - cgroup2 cgroup2 rw\n", "0::/site.service/drover-a1-self\n")
	next := detectFake(t, f, proc, Config{})
	if names, err := next.List(); err != nil || !slices.Equal(names, []string{"job"}) {
		t.Errorf("list: %q, %v", names, err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

func TestMissingAbilitiesAreReportedWithTheirReason(t *testing.T) {
	for name, tc := range map[string]struct {
		controllers []string
		fail        map[string]error
		config      Config
		want        string
		why         string // of shares
	}{
		"a service that may not step aside": {
			allV2, nil, Config{}, "duty none none v2 v2 v2", "/v2/site.service: the control group is in use",
		},
		"no memory controller": {
			[]string{"cpu"}, nil, Config{Parent: "/"}, "v2 none none v2 v2 v2", "",
		},
		"no rights": {
			allV2,
			map[string]error{"mkdir": syscall.EACCES},
			Config{},
			"signals none none signals signals signals", "/v2: no right to change the control group",
		},
		"read-only": {
			allV2,
			map[string]error{"mkdir": syscall.EROFS},
			Config{},
			"signals none none signals signals signals", "/v2: the hierarchy is read-only",
		},
		"a parent that is not there": {
			allV2, nil, Config{Parent: "/none"}, "signals none none signals signals signals", "no such file",
		},
		"a kernel without cgroup.kill": {
			allV2,
			map[string]error{"cgroup.kill": syscall.ENOENT},
			Config{Parent: "/"},
			"v2 v2 v2 v2 signals v2", "",
		},
		"rights to the files, not to the values": {
			allV2,
			map[string]error{"write /v2/drover-a1/probe": syscall.EPERM},
			Config{Parent: "/"},
			"signals none none signals signals v2", "/v2/drover-a1: no right to change the control group",
		},
		"as configured": {
			allV2, nil, Config{Parent: "/", Without: []Ability{Shares}}, "duty v2 v2 v2 v2 v2", "as configured",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, proc := newFake(t, tc.controllers...)
			f.fail = tc.fail
			h := detectFake(t, f, proc, tc.config)
			if got := wayOf(h.Offers()); got != tc.want {
				t.Errorf("%s, want %s\n%s", got, tc.want, h.Offers())
			}
			if got := h.Offers()[Shares].Why; tc.why == "" && got != "" || !strings.Contains(got, tc.why) {
				t.Errorf("shares: %q, want %q in it", got, tc.why)
			}
			g := newTestGroup(t, h, "job")
			if h.Offers().Of(Memory) == None {
				if err := g.SetMemory(1 << 20); !errors.Is(err, ErrNotOffered) {
					t.Errorf("set memory: %v, want %v", err, ErrNotOffered)
				}
			}
			f.fail = nil
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAMixedHostUsesEachControllerWhereItIs(t *testing.T) {
	f, proc := newFake(t)
	f.surroundings(t, proc,
		"32 31 0:29 / /v1/cpu rw - cgroup cgroup rw,cpu\n41 31 0:38 / /v2 rw - cgroup2 cgroup2 rw\n",
		"1:cpu:/\n0::/site.service\n")
	f.groups["/v1/cpu"] = true
	h := detectFake(t, f, proc, Config{})
	if got := wayOf(h.Offers()); got != "v1 none none v2 v2 v2" {
		t.Fatalf("%s\n%s", got, h.Offers())
	}
	g := newTestGroup(t, h, "job")
	want := []string{"/v2/site.service/drover-a1/g-job/cgroup.procs", "/v1/cpu/drover-a1/g-job/cgroup.procs"}
	if got := g.Procs(); !slices.Equal(got, want) {
		t.Errorf("files to write to: %q, want %q", got, want)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

func TestQuotaNeverExceedsOldAndNewDuringAChange(t *testing.T) {
	f, proc := newFake(t)
	f.surroundings(t, proc, "32 31 0:29 / /v1/cpu rw - cgroup cgroup rw,cpu\n", "1:cpu:/\n")
	f.groups["/v1/cpu"] = true
	h := detectFake(t, f, proc, Config{})
	g := newTestGroup(t, h, "job")
	const dir = "/v1/cpu/drover-a1/g-job/cpu.cfs_"
	f.writes = nil
	for _, share := range []CPU{Processor / 2, Processor / 2, Processor / 500, Processor / 2, Unlimited} {
		if _, err := g.SetShare(share); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		dir + "quota_us=50000", dir + "period_us=100000", // nothing was known
		dir + "quota_us=1000", dir + "period_us=500037",
		dir + "period_us=100000", dir + "quota_us=50000",
		dir + "quota_us=-1",
	}
	if !slices.Equal(f.writes, want) {
		t.Errorf("writes %q, want %q", f.writes, want)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfAGroupAreTyped(t *testing.T) {
	for name, tc := range map[string]struct {
		with, want error
	}{
		"a controller that vanishes": {syscall.ENODEV, ErrVanished},
		"a group that vanishes":      {syscall.ENOENT, ErrVanished},
		"rights that are taken away": {syscall.EPERM, ErrNoRights},
		"remounted read-only":        {syscall.EROFS, ErrReadOnly},
		"more than the group above":  {syscall.EINVAL, ErrRefused},
		"memory in use":              {syscall.EBUSY, ErrBusy},
		"a process that has ended":   {syscall.ESRCH, os.ErrProcessDone},
	} {
		t.Run(name, func(t *testing.T) {
			f, proc := newFake(t, allV2...)
			h := detectFake(t, f, proc, Config{Parent: "/"})
			g := newTestGroup(t, h, "job")
			f.fail = map[string]error{"write": tc.with}
			_, share := g.SetShare(Processor)
			for what, err := range map[string]error{
				"add": g.Add(1), "share": share, "memory": g.SetMemory(1), "processors": g.SetCPUs([]int{0}),
				"freeze": g.Freeze(t.Context()), "thaw": g.Thaw(),
			} {
				var typed *Error
				if !errors.Is(err, tc.want) || !errors.Is(err, tc.with) || !errors.As(err, &typed) ||
					typed.Group != "job" {
					t.Errorf("%s: %v, want %v of the group", what, err, tc.want)
				}
			}
			f.fail = nil
			if got, err := g.SetShare(Processor); err != nil || got != Processor {
				t.Errorf("a share when all is well again: %d, %v", got, err)
			}
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAPartlyCreatedGroupIsRemoved(t *testing.T) {
	f, proc := newFake(t, allV2...)
	f.surroundings(t, proc,
		"32 31 0:29 / /v1/cpuacct rw - cgroup cgroup rw,cpuacct\n41 31 0:38 / /v2 rw - cgroup2 cgroup2 rw\n",
		"1:cpuacct:/\n0::/\n")
	f.groups["/v1/cpuacct"] = true
	f.fail = map[string]error{"cpu.stat": syscall.ENOENT}
	h := detectFake(t, f, proc, Config{})
	if len(h.trees) != 2 {
		t.Fatalf("%d trees\n%s", len(h.trees), h.Offers())
	}
	f.fail = map[string]error{"mkdir /v1": syscall.EACCES}
	if _, err := h.Make("job"); !errors.Is(err, ErrNoRights) {
		t.Errorf("make: %v, want %v", err, ErrNoRights)
	}
	f.fail = nil
	if names, err := h.List(); err != nil || len(names) > 0 {
		t.Errorf("list: %q, %v", names, err)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	f, proc := newFake(t, allV2...)
	for _, config := range []Config{
		{}, {Name: "a/b"}, {Name: strings.Repeat("x", 101)}, {Name: "a", Parent: "b"}, {Name: "a", Parent: "/a/../b"},
	} {
		if _, err := detect(config, f, proc); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v, want %v", config, err, ErrInvalid)
		}
	}
	h := detectFake(t, f, proc, Config{Parent: "/"})
	for _, name := range []string{"", ".", "..", "a/b", "a.b", "ä"} {
		if _, err := h.Make(name); !errors.Is(err, ErrInvalid) {
			t.Errorf("make %q: %v, want %v", name, err, ErrInvalid)
		}
		if _, err := h.Find(name); !errors.Is(err, ErrInvalid) {
			t.Errorf("find %q: %v, want %v", name, err, ErrInvalid)
		}
	}
	g := newTestGroup(t, h, "tasks")
	if _, err := g.SetShare(-1); !errors.Is(err, ErrInvalid) {
		t.Errorf("share -1: %v", err)
	}
	if err := g.SetMemory(-1); !errors.Is(err, ErrInvalid) {
		t.Errorf("memory -1: %v", err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

func TestAHostWithoutProcReportsIt(t *testing.T) {
	h := detectFake(t, &fake{}, t.TempDir(), Config{})
	if got := wayOf(h.Offers()); got != "signals none none signals signals signals" {
		t.Errorf("%s", got)
	}
	if got := h.Offers()[Memory].Why; !strings.Contains(got, "mountinfo") {
		t.Errorf("memory: %q", got)
	}
}
