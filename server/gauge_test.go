package server

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/needs"
	"github.com/seed-9b8f70bb/drover/cgroup"
)

func TestASampleIsOfOneTaskAndOneShare(t *testing.T) {
	begin := time.Unix(1000, 0)
	used := cgroup.Use{CPU: 3 * time.Second, Throttled: time.Second, Memory: 700, Cache: 100}
	const waited = time.Second // that counts where no share holds it back
	for name, c := range map[string]struct {
		it    gauged
		worth cgroup.CPU
		want  needs.Sample
	}{
		"the first":                    {gauged{tasks: 2, share: 7}, cgroup.Processor, needs.Sample{Share: 7, Memory: 300}},
		"of two tasks":                 {gauged{tasks: 2, share: 7, at: begin}, cgroup.Processor, needs.Sample{Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One * 3 / 8, Throttled: batch.Second}},
		"of processors worth half one": {gauged{tasks: 2, share: 7, at: begin}, cgroup.Processor / 2, needs.Sample{Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One * 3 / 4, Throttled: batch.Second}},
		"never more than a processor":  {gauged{tasks: 1, share: 7, at: begin}, cgroup.Processor / 2, needs.Sample{Share: 7, Memory: 600, Span: 4 * batch.Second, CPU: batch.One, Throttled: batch.Second}},
		"of a busy host": {
			gauged{tasks: 2, share: 7, at: begin, last: cgroup.Use{Throttled: time.Second}},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One / 2},
		},
		"whose busy thread has ended": {
			gauged{tasks: 2, share: 7, at: begin, last: cgroup.Use{Throttled: time.Second}, waited: time.Hour},
			cgroup.Processor,
			needs.Sample{Share: 7, Memory: 300, Span: 4 * batch.Second, CPU: batch.One * 3 / 8},
		},
		"with a limit":       {gauged{tasks: 2, share: 7, limit: 400}, cgroup.Processor, needs.Sample{Share: 7, Memory: 300, Limit: 400}},
		"of two shares":      {gauged{tasks: 2, share: 7, at: begin, mixed: true}, cgroup.Processor, needs.Sample{Share: 7, Memory: 300}},
		"while it is paused": {gauged{tasks: 2, share: 7, at: begin, paused: true}, cgroup.Processor, needs.Sample{Share: 7, Memory: 300}},
	} {
		if diff := cmp.Diff(c.want, c.it.sampled(begin.Add(4*time.Second), &used, waited, c.worth)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAPauseTaintsWhatIsLearnedOfCPU(t *testing.T) {
	key := batch.Key{Job: "a"}
	g := &gauge{jobs: make(map[batch.Key]*gauged)}
	g.enter(key, &batch.Job{CPU: batch.One / 2}, nil, []batch.Location{{Processors: 2, Share: 5}, {Processors: 1, Share: 3}})
	it := g.jobs[key]
	if it.tasks != 3 || it.share != 3 || !it.mixed {
		t.Errorf("%+v", it)
	}
	it.mixed = false
	g.share(key, []batch.Location{{Processors: 3, Share: 3}})
	if it.mixed {
		t.Error("mixed by the same share")
	}
	g.share(key, []batch.Location{{Processors: 3, Share: 4}})
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
	g.pause(key, true) // of one that has ended
	if len(g.jobs) != 0 {
		t.Error("it is still there")
	}
}

func TestASiteWithMoreProcessorsThanItsHostGivesPartsOfThem(t *testing.T) {
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
