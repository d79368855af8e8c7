package server

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/plan/needs"
)

// idleGauge returns a gauge of unmeasured attempts with one process each.
func idleGauge() *gauge {
	return &gauge{meter: nothing{}, jobs: make(map[batch.Key]*gauged), divide: func(_ batch.Launch,
		places []batch.NodeAllocation,
	) ([][]batch.NodeAllocation, error) {
		return [][]batch.NodeAllocation{places}, nil
	}}
}

type nothing struct{}

func (nothing) read(time.Time) map[batch.Key][]usage { return nil }

func (nothing) limits() bool { return false }

func TestSampleIsPerTaskAndShare(t *testing.T) {
	begin := time.Unix(1000, 0)
	used := cgroup.Use{CPU: 3 * time.Second, Throttled: time.Second, Memory: 700, Cache: 100}
	const waited = time.Second // counts if no share throttled the task
	for name, c := range map[string]struct {
		it    gauged
		worth cgroup.CPU
		want  needs.Sample
	}{
		"first sample": {
			gauged{members: []member{{tasks: 2}}, share: 7},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300},
		},
		"two tasks": {
			gauged{members: []member{{tasks: 2, at: begin}}, share: 7},
			cgroup.Processor,
			needs.Sample{
				Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One * 3 / 8, Throttled: batch.Second,
			},
		},
		"processors of half the host's": {
			gauged{members: []member{{tasks: 2, at: begin}}, share: 7},
			cgroup.Processor / 2,
			needs.Sample{
				Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One * 3 / 4, Throttled: batch.Second,
			},
		},
		"at most one processor": {
			gauged{members: []member{{tasks: 1, at: begin}}, share: 7},
			cgroup.Processor / 2,
			needs.Sample{Share: 7, Memory: 600, Span: 4 * batch.Second, CPU: batch.One, Throttled: batch.Second},
		},
		"busy host": {
			gauged{
				members: []member{{tasks: 2, at: begin, last: usage{Use: cgroup.Use{Throttled: time.Second}}}},
				share:   7,
			},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One / 2},
		},
		"ended busy thread": {
			gauged{members: []member{{tasks: 2, at: begin, last: usage{
				Use:    cgroup.Use{Throttled: time.Second},
				waited: time.Hour,
			}}}, share: 7},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One * 3 / 8},
		},
		"memory limit": {
			gauged{members: []member{{tasks: 2}}, share: 7, limit: 400},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300, Limit: 400},
		},
		"two shares": {
			gauged{members: []member{{tasks: 2, at: begin}}, share: 7, mixed: true},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300},
		},
		"paused": {
			gauged{members: []member{{tasks: 2, at: begin}}, share: 7, paused: true},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300},
		},
	} {
		got, news := c.it.take([]usage{{0, begin.Add(4 * time.Second), used, waited}}, c.worth)
		if diff := cmp.Diff(c.want, got); diff != "" || !news {
			t.Errorf("%s: %v, %s", name, news, diff)
		}
	}
}

// The nodes measure the processes of an attempt at about the same time.
func TestSampleUsesTheBusiestProcess(t *testing.T) {
	begin := time.Unix(1000, 0)
	later := begin.Add(4 * time.Second)
	two := func() *gauged {
		return &gauged{members: []member{{tasks: 1, at: begin}, {tasks: 2, at: begin}}, share: 7}
	}
	one := usage{0, later, cgroup.Use{CPU: time.Second, Memory: 500}, 0}
	other := usage{1, later.Add(time.Second), cgroup.Use{CPU: 4 * time.Second, Memory: 600, Throttled: time.Second}, 0}
	it := two()
	got, news := it.take([]usage{one, other}, cgroup.Processor)
	want := needs.Sample{Share: 7, Span: 4 * batch.Second, CPU: batch.One * 2 / 5, Throttled: batch.Second, Memory: 500}
	if diff := cmp.Diff(want, got); diff != "" || !news {
		t.Error(news, diff)
	}
	if _, news := it.take([]usage{one, other}, cgroup.Processor); news {
		t.Error("an unchanged sample is reported")
	}
	late := other
	late.at = late.at.Add(time.Second)
	if _, news := it.take([]usage{one, late}, cgroup.Processor); news {
		t.Error("a sample of one process is reported for both")
	}
	it = two()
	it.changed, it.mixed = later.Add(2*time.Second), true
	if got, _ := it.take([]usage{one, other}, cgroup.Processor); got.Span != 0 || !it.mixed {
		t.Errorf("sample from before a change of shares: %+v", got)
	}
	it = two()
	if got, news := it.take([]usage{other}, cgroup.Processor); !news || got.Span != 0 || got.Memory != 300 {
		t.Errorf("sample without one process: %+v", got)
	}
	if _, news := two().take([]usage{{rank: 2, at: later}}, cgroup.Processor); news {
		t.Error("a process of another attempt is reported")
	}
}

func TestPauseInvalidatesACPUSample(t *testing.T) {
	key := batch.Key{Job: "a"}
	g := idleGauge()
	g.enter(key, &batch.Job{CPU: batch.One / 2}, nil, batch.LaunchOnce, []batch.NodeAllocation{{
		Processors: 2,
		Share:      5,
	}, {Processors: 1, Share: 3}})
	it := g.jobs[key]
	if len(it.members) != 1 || it.members[0].tasks != 3 || it.share != 3 || !it.mixed {
		t.Errorf("%+v", it)
	}
	it.mixed = false
	g.share(key, []batch.NodeAllocation{{Processors: 3, Share: 3}})
	if it.mixed {
		t.Error("an unchanged share invalidates the sample")
	}
	g.share(key, []batch.NodeAllocation{{Processors: 3, Share: 4}})
	if !it.mixed || it.share != 4 {
		t.Errorf("%+v", it)
	}
	it.mixed = false
	g.pause(key, true)
	g.pause(key, false)
	if !it.mixed || it.paused {
		t.Errorf("%+v", it)
	}
	g.leave(key)
	g.pause(key, true) // for an ended attempt
	if len(g.jobs) != 0 {
		t.Error("the ended attempt is still known")
	}
}

func TestSiteLargerThanItsHostGivesFractionsOfProcessors(t *testing.T) {
	for _, c := range []struct {
		width int32
		has   int
		want  cgroup.CPU
	}{{2, 4, cgroup.Processor}, {4, 4, cgroup.Processor}, {8, 4, cgroup.Processor / 2}, {1 << 30, 1, 1}} {
		if got := worthOf(c.width, c.has); got != c.want {
			t.Errorf("%d of %d: %d, want %d", c.width, c.has, got, c.want)
		}
	}
}
