package cgroup

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const mixed = `23 28 0:21 / /proc rw - proc proc rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
33 31 0:30 /docker/abc /sys/fs/cgroup/with\040blank rw - cgroup cgroup rw,freezer
40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate
42 31 0:38 / /mnt/again rw - cgroup2 cgroup2 rw
`

func TestMountsAreParsed(t *testing.T) {
	got, err := parseMounts(mixed)
	if err != nil {
		t.Fatal(err)
	}
	want := []mount{
		{point: "/sys/fs/cgroup/cpu,cpuacct", root: "/", controllers: []string{"cpu", "cpuacct"}},
		{point: "/sys/fs/cgroup/with blank", root: "/docker/abc", controllers: []string{"freezer"}},
		{v2: true, point: "/sys/fs/cgroup/unified", root: "/"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mount{})); diff != "" {
		t.Error(diff)
	}
	if _, err := parseMounts("32 31 - cgroup2 cgroup2 rw\n"); err == nil {
		t.Error("a line that is too short is read")
	}
}

func TestMembershipIsParsed(t *testing.T) {
	got, err := parseMembership("4:memory:/a:b\n2:cpu,cpuacct:/\n0::/user.slice\n")
	want := membership{"memory": "/a:b", "cpu": "/", "cpuacct": "/", "": "/user.slice"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, text := range []string{"x\n", "1:cpu\n", "1:cpu:relative\n"} {
		if _, err := parseMembership(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestTheDirectoryOfAGroupDependsOnItsMount(t *testing.T) {
	for name, tc := range map[string]struct{ root, path, want string }{
		"the root":                         {"/", "/", "/m"},
		"below the root":                   {"/", "/a/b", "/m/a/b"},
		"a container's own group":          {"/docker/x", "/docker/x", "/m"},
		"below a container's own":          {"/docker/x", "/docker/x/y", "/m/y"},
		"one that the mount does not show": {"/docker/x", "/docker/xy", "/m"},
		"one above the namespace":          {"/", "/../../other", "/m"},
		"a path that leaves it":            {"/", "/a/../../../etc", "/m/etc"},
		"a namespace with its root above":  {"/../..", "/", "/m"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (mount{point: "/m", root: tc.root}).dir(tc.path); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestStatIsParsedAfterAnyName(t *testing.T) {
	text := "42 (a) R 1 (b) S 1 40 40 0 -1 4194304 5 0 0 0 11 7 300 25 20 0 1 0 777 1000 3 18446744073709551615"
	got, err := parseStat(text)
	want := stat{pid: 42, group: 40, state: 'S', start: 777, children: 3250 * time.Millisecond}
	got.resident = 0 // depends on the machine's page size
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, text := range []string{
		"", "1 (a", "1 ) (", "1 (a) S 1 2", strings.Replace(text, "777", "x", 1), "x" + text,
	} {
		if _, err := parseStat(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestProcessorListsAreFormatted(t *testing.T) {
	for want, cpus := range map[string][]int{
		"": nil, "0": {0}, "0-3": {3, 1, 0, 2, 2}, "0,2,4-5": {5, 4, 2, 0},
	} {
		if got := formatCPUs(cpus); got != want {
			t.Errorf("%v: %q, want %q", cpus, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, "cpus")
		var back []int
		for part := range strings.SplitSeq(formatCPUs(cpus), ",") {
			if part == "" {
				continue
			}
			from, to, ok := strings.Cut(part, "-")
			if !ok {
				to = from
			}
			first, _ := strconv.Atoi(from)
			last, _ := strconv.Atoi(to)
			for ; first <= last; first++ {
				back = append(back, first)
			}
		}
		if want := slices.Compact(slices.Sorted(slices.Values(cpus))); !slices.Equal(back, want) {
			t.Errorf("%v came back as %v", want, back)
		}
	})
}

func TestProcessorListsAreParsed(t *testing.T) {
	for text, want := range map[string][]int{
		"\n": nil, "0\n": {0}, "0-3,7\n": {0, 1, 2, 3, 7}, "2,4-4": {2, 4},
	} {
		if got, err := parseCPUs(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "-1", "3-1", "1-", "0-999999999", "1.5", "0 1"} {
		if got, err := parseCPUs(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(mixed)
	f.Add("4:memory:/a:b\n0::/\n")
	f.Add("42 (a) S 1 40 40 0 -1 4194304 5 0 0 0 11 7 300 25 20 0 1 0 777 1000 3 1")
	f.Add("usage_usec 5\nnr_throttled 1\n")
	f.Add("0-3,7\n")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, _ := parseMounts(text)
		in, err := parseMembership(text)
		if err == nil {
			for _, m := range mounts {
				for _, path := range in {
					if dir := m.dir(path); !strings.HasPrefix(dir, strings.TrimSuffix(m.point, "/")) &&
						m.point == "/sys" {
						t.Errorf("%q is outside of its mount", dir)
					}
				}
			}
		}
		_, _ = parseStat(text)
		if cpus, err := parseCPUs(text); err == nil {
			if again, err := parseCPUs(formatCPUs(cpus)); err != nil ||
				!slices.Equal(again, slices.Compact(slices.Sorted(slices.Values(cpus)))) {
				t.Errorf("%v came back as %v, %v", cpus, again, err)
			}
		}
		field(text, "usage_usec")
	})
}

// The process numbers are impossible, so the processes have no clock.
const someone = 1 << 23

func TestUseOfAChildIsCountedOnce(t *testing.T) {
	parent := stat{pid: someone, group: someone, start: 1}
	child := stat{pid: someone + 1, group: someone, start: 2}
	after := func(waited time.Duration) stat {
		p := parent
		p.children = waited
		return p
	}
	for name, tc := range map[string]struct {
		lived time.Duration // counted while the child lived
		then  []stat
		want  time.Duration
	}{
		"unobserved until its end":  {0, []stat{after(time.Second)}, time.Second},
		"counted while it lived":    {700 * time.Millisecond, []stat{after(time.Second)}, time.Second},
		"reaped by another process": {700 * time.Millisecond, []stat{parent}, 700 * time.Millisecond},
		"still alive":               {700 * time.Millisecond, []stat{parent, child}, 700 * time.Millisecond},
		"number reused by another process": {
			700 * time.Millisecond, []stat{after(time.Second), {pid: someone + 1, start: 3}}, time.Second,
		},
		"higher use at the end": {2 * time.Second, []stat{after(time.Second)}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMembers(&table{})
			m.count([]stat{parent, child})
			m.known[child.pid].counted, m.total = tc.lived, tc.lived
			m.count(tc.then)
			if m.total != tc.want {
				t.Errorf("counted %v, want %v", m.total, tc.want)
			}
		})
	}
}

func TestThePeakOfSignalsIsTheHighestUseRead(t *testing.T) {
	m := newMembers(&table{})
	for _, resident := range []int64{5, 9, 3} {
		m.count([]stat{{pid: someone, resident: resident}, {pid: someone + 1, resident: 1}})
	}
	if m.memory != 4 || m.peak != 10 {
		t.Errorf("memory %d, peak %d, want 4 and 10", m.memory, m.peak)
	}
}

func TestAReusedProcessNumberIsNotSignaled(t *testing.T) {
	mine := stat{pid: someone, group: someone, start: 1, state: 'S'}
	other := stat{pid: someone, group: someone, start: 2, state: 'S'}
	table := &table{proc: t.TempDir(), at: time.Now(), by: map[int][]stat{someone: {mine}}}
	m := newMembers(table)
	m.leaders[someone] = mine.start
	if there, err := m.refresh(time.Hour); err != nil || len(there) != 1 {
		t.Fatalf("members: %+v, %v", there, err)
	}
	table.by = map[int][]stat{someone: {other}}
	if there, err := m.refresh(time.Hour); err != nil || len(there) > 0 || len(m.leaders) > 0 {
		t.Errorf("members: %+v, %v; process groups: %v, want none", there, err, m.leaders)
	}
}
