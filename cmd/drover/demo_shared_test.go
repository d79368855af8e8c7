package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/server"
)

func TestSharedDemoConfigurationIsValid(t *testing.T) {
	dir := t.TempDir()
	services, err := sharedServices(2 * usualSieve)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "site.yaml")
	if err := writeYAML(filepath.Join(dir, demoCatalogue(sharedName)), services); err != nil {
		t.Fatal(err)
	}
	if err := writeYAML(path, sharedConfig(3, dir, "127.0.0.1:7411")); err != nil {
		t.Fatal(err)
	}
	cfg, err := server.ReadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Policy.Name != "dfrs" || len(cfg.Nodes) != 1 || cfg.Nodes[0].Count != 3 {
		t.Errorf("%+v, %+v", cfg.Policy, cfg.Nodes)
	}
	for _, m := range []sharedMode{sharedFull, sharedQuick} {
		if fast := m.on(usualSieve / 2); fast.long > mostSieved*usualSieve/2 || fast.late > m.late ||
			m.on(2*usualSieve) != m {
			t.Errorf("on a fast host: %+v", fast)
		}
		all := m.requests(3, 2*usualSieve)
		if len(all) != 3*m.waves+2 || m.waves >= sharedSlots || m.waves+largeSlots <= sharedSlots {
			t.Errorf("%d requests, %+v: the late request must fit, the large one must not", len(all), m)
		}
		for _, r := range all {
			if _, err := cfg.Catalogue.Service(r.service); err != nil {
				t.Error(err)
			}
		}
	}
}

// used returns a job with a share and a CPU time, measured at the given second.
func used(id string, share float64, measured, cpu float64) client.JobUse {
	j := client.JobUse{ID: id, Tasks: 1, Share: share, CPUTime: time.Duration(cpu * float64(time.Second))}
	if measured > 0 {
		j.Measured = after(measured)
	}
	return j
}

func TestShareMeterCountsIntervalsOfConstantShare(t *testing.T) {
	type look struct{ at, share, measured, cpu float64 } // share -1: the job has ended
	for name, test := range map[string]struct {
		looks             []look
		given, used, span float64
	}{
		"two measurements": {[]look{{1, 0.5, 0.9, 1}, {2, 0.5, 0.9, 1}, {3, 0.5, 2.9, 1.9}}, 0, 0, 0},
		"three": {
			[]look{{1, 0.5, 0.9, 1}, {3, 0.5, 2.9, 1.9}, {5, 0.5, 4.9, 2.8}},
			1, 0.9, 2, // the first interval began before the share was known
		},
		"a share that changes": {
			[]look{{1, 1, 0, 0}, {2, 1, 1.9, 1}, {3, 0.5, 1.9, 1}, {4, 0.5, 3.9, 2}, {6, 0.5, 5.9, 3}},
			1, 1, 2,
		},
		"a share that is rounded": {
			[]look{{1, 0.5, 0, 0}, {2, 0.5, 1.9, 1}, {3, 0.5005, 1.9, 1}, {4, 0.5, 3.9, 2}},
			1, 1, 2,
		},
		"another attempt": {
			[]look{{1, 0.5, 0, 0}, {2, 0.5, 1.9, 1}, {2.5, -1, 0, 0}, {3, 0.5, 3.9, 1.5}, {6, 0.5, 5.9, 2.5}},
			1, 1, 2,
		},
		"paused": {[]look{{1, 0, 0, 0}, {2, 0, 1.9, 1}, {4, 0, 3.9, 1}}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var m shareMeter
			for _, l := range test.looks {
				if l.share < 0 {
					m.gone()
					continue
				}
				j := used("a", l.share, l.measured, l.cpu)
				m.see(after(l.at), &j)
			}
			got, want := []float64{m.given, m.used, m.span.Seconds()}, []float64{test.given, test.used, test.span}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.01)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOtherUseIsBusyTimeLessJobs(t *testing.T) {
	busy := 0.0
	m := otherMeter{busy: func() (time.Duration, bool) { return time.Duration(busy * float64(time.Second)), true }}
	see := func(at float64, jobs ...client.JobUse) {
		busy = at * 2 // two processors, none of them ever idle
		m.see(jobs)
	}
	see(1, used("a", 1, 1, 0.5), used("b", 1, 1, 0.5))
	see(2, used("a", 1, 1, 0.5), used("b", 1, 1, 0.5)) // nothing new
	see(3, used("a", 1, 3, 1.5), used("b", 1, 3, 1))   // 1.5 of 4
	see(5, used("a", 1, 5, 2.5))                       // b has ended
	see(7, used("a", 1, 7, 1))                         // another attempt
	if got, known := m.rate(); !known || got != 1.25 {
		t.Errorf("%v, %v", got, known)
	}
	if _, known := new(otherMeter).rate(); known {
		t.Error("known without a measurement")
	}
}

func TestSharesAreComparedWithMeasuredUse(t *testing.T) {
	all := []string{"shares=v1", "measuring=v1"}
	long := func(measured, share, used float64) sharedJobSummary {
		return sharedJobSummary{Kind: kindLong, Measured: measured, Share: share, Used: used, Error: used/share - 1}
	}
	const many = 1000 // nodes: more than any host has
	for name, test := range map[string]struct {
		view sharedSummary
		want string
		text string
	}{
		"as given": {
			sharedSummary{Ways: all, Jobs: []sharedJobSummary{long(10, 0.3, 0.31), long(10, 0.5, 0.46)}},
			checkPassed,
			"2 jobs used what they were given, at worst -8.0% (#2)",
		},
		"too much": {sharedSummary{
			Ways: all, Nodes: many, Others: new(1.0), Jobs: []sharedJobSummary{long(10, 0.3, 0.5)},
		}, checkFailed, "+66.7%"},
		"too little": {
			sharedSummary{Ways: all, Jobs: []sharedJobSummary{long(10, 0.3, 0.2)}}, checkFailed, "-33.3%",
		},
		"no room": {sharedSummary{
			Ways: all, Nodes: many, Others: new(1.0), Took: 10, Jobs: []sharedJobSummary{long(10, 0.3, 0.2)},
		}, checkUnknown, "other programs used 1.00"},
		"room enough": {
			sharedSummary{Ways: all, Others: new(0.0), Took: 10, Jobs: []sharedJobSummary{long(10, 0.3, 0.2)}},
			checkFailed,
			"-33.3%",
		},
		"too short": {
			sharedSummary{Ways: all, Jobs: []sharedJobSummary{long(1, 0.3, 0.1)}},
			checkUnknown,
			"no share was constant",
		},
		"unmeasured": {sharedSummary{
			Ways: []string{"shares=v1", "measuring=none"}, Jobs: []sharedJobSummary{long(10, 0.3, 0.1)},
		}, checkUnknown, "this host measures nothing"},
		"short and off": {sharedSummary{Ways: all, Jobs: []sharedJobSummary{
			long(10, 0.3, 0.3), {Kind: kindLate, Measured: 2, Share: 0.5, Used: 0.1, Error: -0.8},
		}}, checkPassed, "1 jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, text := checkShares(&test.view); got != test.want || !strings.Contains(text, test.text) {
				t.Errorf("%s: %s", got, text)
			}
		})
	}
}

func TestSharesMustShrinkAndGrowBack(t *testing.T) {
	late := demoJob("primes", sharedName, 1, 16, 16.1, 18, 20)
	for name, test := range map[string]struct {
		before, during, after float64
		want                  string
	}{
		"so they do":      {0.333, 0.25, 0.333, checkPassed},
		"not shrunk":      {0.333, 0.333, 0.333, checkFailed},
		"more for all":    {0.333, 0.333, 0.5, checkFailed},
		"not grown":       {0.333, 0.25, 0.25, checkFailed},
		"not observed":    {0.333, 0, 0.333, checkUnknown},
		"none afterwards": {0.333, 0.25, 0, checkUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			seen := []leastShare{{after(10), 0.5}, {after(15), test.before}, {after(16.05), 0.1}}
			if test.during > 0 {
				seen = append(seen, leastShare{after(17), test.during})
			}
			if test.after > 0 {
				seen = append(seen, leastShare{after(18.5), test.after})
			}
			seen = append(seen, leastShare{after(22), 1})
			if got, text := checkYields(seen, late); got != test.want {
				t.Errorf("%s: %s", got, text)
			}
		})
	}
}

// sharedExample returns a board on which all checks pass.
func sharedExample() (*sharedBoard, *sharedResults) {
	b := newSharedBoard(demoEpoch, []sharedRequest{
		{kind: kindLong}, {kind: kindLong}, {kind: kindLate}, {kind: kindLarge},
	})
	for n, j := range []*client.Job{
		demoJob("primes", sharedName, 1, 0, 0.1, 40, 50),
		demoJob("primes", sharedName, 1, 0, 0.1, 42, 50),
		demoJob("primes", sharedName, 1, 16, 16.1, 18, 20),
		demoJob("mandelbrot", sharedName, 1, 22, 22.2, 25, 30),
	} {
		b.jobs[n].job, b.jobs[n].asked, b.jobs[n].served = j, j.Submitted, j.Started
	}
	b.jobs[1].stops = 1
	b.least = []leastShare{{after(15), 0.5}, {after(17), 0.333}, {after(18.5), 0.5}}
	return b, &sharedResults{primes: map[int]string{0: "primes 4 below 10", 1: "primes 4 below 10"}}
}

func TestChecksOfTheSharedDemo(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*sharedBoard, *sharedResults)
		want  string // checks that fail
	}{
		"all well":      {func(*sharedBoard, *sharedResults) {}, ""},
		"a wrong count": {func(_ *sharedBoard, r *sharedResults) { r.primes[1] = "primes 5 below 10" }, "done"},
		"no count":      {func(_ *sharedBoard, r *sharedResults) { r.primes[0] = "" }, "done"},
		"no picture":    {func(_ *sharedBoard, r *sharedResults) { r.picture = errors.New("no PNG") }, "done"},
		"a job failed":  {func(b *sharedBoard, _ *sharedResults) { b.jobs[0].job.State = client.Failed }, "done"},
		"late was late": {func(b *sharedBoard, _ *sharedResults) { b.jobs[2].served = after(17.5) }, "late"},
		"late on a busy host": {func(b *sharedBoard, _ *sharedResults) {
			b.jobs[2].served = after(17.5)
			b.others.used, b.others.span = 1e6, time.Second
		}, ""},
		"late never ran":     {func(b *sharedBoard, _ *sharedResults) { b.jobs[2].served = time.Time{} }, "late"},
		"no share shrank":    {func(b *sharedBoard, _ *sharedResults) { b.least[1].share = 0.5 }, "yields"},
		"no job was stopped": {func(b *sharedBoard, _ *sharedResults) { b.jobs[1].stops = 0 }, "space"},
		"large did not come": {func(b *sharedBoard, _ *sharedResults) { b.jobs[3].served = time.Time{} }, "space"},
	} {
		t.Run(name, func(t *testing.T) {
			b, found := sharedExample()
			test.spoil(b, found)
			v := summarizeShared(b, found)
			var failed []string
			for _, c := range v.Checks {
				if c.Result == checkFailed {
					failed = append(failed, c.Name)
				}
			}
			if got := strings.Join(failed, " "); got != test.want || v.failed() != len(failed) {
				t.Errorf("fail: %q; %+v", got, v.Checks)
			}
		})
	}
}

// use waits a second and returns the use of a site by these jobs.
func use(start time.Time, jobs ...client.JobUse) *client.SiteUse {
	<-time.After(time.Second)
	return &client.SiteUse{
		At:    start.Add(time.Since(start)),
		Nodes: []client.NodeUse{{Name: "node1", Processors: 1, Given: 1, Tasks: len(jobs)}}, Jobs: jobs,
		Capabilities: []string{"estimates", "shares=v1"},
	}
}

func TestSharedBoardPrintsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		b := newSharedBoard(start, []sharedRequest{{kind: kindLong}, {kind: kindLate}})
		b.others.busy = func() (time.Duration, bool) { return 0, false }
		job := func(id string, state client.State, attempt, checkpoints int) *client.Job {
			j := &client.Job{
				ID: id, Service: "primes", State: state, Attempt: attempt, Checkpoints: checkpoints,
				CheckpointedAfter: 2 * time.Second,
				Nodes:             []string{"node1"}, Submitted: start, Started: start,
			}
			if state.Final() {
				j.Ended = start.Add(9 * time.Second)
			}
			return j
		}
		on := func(id, node string, share float64) client.JobUse {
			return client.JobUse{
				ID: id, Service: "primes", Nodes: []string{node}, Tasks: 1, Share: share, Yield: share, Declared: 1,
				Paused: share == 0,
			}
		}
		b.ask(0)
		b.changed(0, job("a", client.Waiting, 0, 0))
		b.changed(0, job("a", client.Running, 1, 0))
		b.changed(0, job("a", client.Running, 1, 0)) // no news
		for range 3 {
			b.saw(use(start, on("a", "node1", 1)))
		}
		b.ask(1)
		b.changed(1, job("b", client.Running, 1, 0)) // between two looks
		b.saw(use(start, on("a", "node1", 0.4), on("b", "node1", 0.5)))
		b.saw(use(start, on("a", "node1", 0.5), on("b", "node1", 0.5)))
		b.saw(use(start, on("a", "node1", 0), on("b", "node1", 0.5)))
		b.saw(use(start, on("a", "node2", 0.5), on("b", "node1", 0.5)))
		b.saw(use(start, on("a", "node2", 0.5), on("b", "node1", 0.5)))
		b.changed(0, job("a", client.Waiting, 1, 1))
		b.saw(use(start, on("b", "node1", 0.5)))
		b.changed(0, job("a", client.Running, 2, 1))
		failed := job("b", client.Failed, 1, 0)
		failed.Outcome.Reason = "exit status 3"
		b.changed(1, failed)
		want := `   0.0s  #1   long   primes is sent
   0.0s  #1   long   runs on node1, 0.000s after it was sent
   2.0s  shares  #1 1.000
   3.0s  #2   late   primes is sent
   3.0s  #2   late   runs on node1, 0.000s after it was sent
   6.0s  #1   long   is paused
   7.0s  #1   long   continues
   7.0s  #1   long   has moved from node1 to node2
   8.0s  shares  #1 0.500  #2 0.500
   8.0s  #1   long   preempted: stopped at a checkpoint after 2.0s of work
   9.0s  #1   long   continues from its checkpoint on node1
   9.0s  #2   late   failed after 9.0s: exit status 3`
		if diff := cmp.Diff(want, strings.Join(b.news, "\n")); diff != "" {
			t.Error(diff)
		}
		if j := b.jobs[0]; j.stops != 2 || j.moves != 1 {
			t.Errorf("%d stops, %d moves", j.stops, j.moves)
		}
		lines := b.frame(time.Now(), 40)
		var top strings.Builder
		writeSiteUse(&top, sharedName, b.named())
		if got := strings.Join(lines, "\n"); !strings.HasPrefix(got,
			"  9.0s  2 of 2 jobs submitted, 1 ended\n\n"+top.String()+"\n   0.0s  #1 ") || !strings.HasSuffix(got,
			want) || !strings.Contains(got, "\n#2 late  primes ") {
			t.Error(got)
		}
		if got := b.frame(time.Now(), len(lines)-10); !slices.Equal(got[len(got)-2:], b.news[10:]) {
			t.Errorf("a lower frame: %q", got) // the last news stay
		}
		for height := range 20 {
			if lines := b.frame(time.Now(), height); len(lines) > height {
				t.Errorf("height %d: %d lines", height, len(lines))
			}
		}
	})
}
