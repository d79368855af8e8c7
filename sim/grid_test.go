package sim_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/sim"
)

func TestMappingNoneKeepsJobsAtHomeAndMCTDoesNot(t *testing.T) {
	traces := map[string]string{
		"a.swf": rigid(1, 0, 100, 4, 100) + rigid(2, 10, 100, 4, 100) + rigid(3, 20, 10, 1, 10),
		"b.swf": rigid(4, 0, 10, 1, 10),
	}
	const sites = "sites: [{name: a, trace: a.swf, procs: 4, policy: easy}, {name: b, trace: b.swf, procs: 4, " +
		"policy: cbf}]\n"
	for mapping, want := range map[string]string{
		"":              "1@0-100a 4@0-10b 2@100-200a 3@200-210a",
		"mapping: none": "1@0-100a 4@0-10b 2@100-200a 3@200-210a",
		"mapping: mct":  "1@0-100a 4@0-10b 2@10-110b 3@100-110a",
	} {
		wantSchedule(t, grid(t, mapping+"\n"+sites, traces), want)
	}
}

// b is twice as fast. Job 1 goes there, for it is done at 50. Job 2 would be done
// at 100 at either site: a, by its name, though b is listed first. Job 3 at 200
// at a and at 100 at b.
func TestMCTTakesTheEarliestCompletionAndBreaksTiesByName(t *testing.T) {
	traces := map[string]string{"t.swf": rigid(1, 0, 100, 4, 100) + rigid(2, 0, 100, 4, 100) + rigid(3, 0, 100, 4, 100)}
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		r := grid(t, fmt.Sprintf(`mapping: mct
sites:
  - {name: b, procs: 4, speed: 2, policy: %s}
  - {name: a, procs: 4, policy: %[1]s, trace: t.swf}
`, policy), traces)
		wantSchedule(t, r, "1@0-50b 2@0-100a 3@50-100b")
	}
}

// The wide job 2 waits for 100 at a. EASY at a lets job 3 pass it at once, FCFS
// does not; at b it would be done at 60.
func TestMCTAsksThePolicyOfTheSite(t *testing.T) {
	traces := map[string]string{"a.swf": rigid(1, 0, 100, 3, 100) + rigid(2, 1, 100, 4, 100) + rigid(3, 2, 29, 1, 29)}
	for policy, want := range map[string]string{
		"easy": "1@0-100a 2@100-200a 3@2-31a",
		"cbf":  "1@0-100a 2@100-200a 3@2-31a",
		"fcfs": "1@0-100a 2@100-200a 3@2-60b",
	} {
		r := grid(t, fmt.Sprintf(`mapping: mct
sites: [{name: a, trace: a.swf, procs: 4, policy: %s}, {name: b, procs: 1, speed: 0.5, policy: cbf}]
`, policy), traces)
		wantSchedule(t, r, want)
	}
}

// At 50 job 1 ends at a, half of its walltime early, and job 2 comes: done at 150
// at a, which b cannot beat with 50 + 134. If a were asked for what it planned
// before that end it would say 200.
func TestMCTSeesTheEndsOfTheSameInstant(t *testing.T) {
	traces := map[string]string{"a.swf": rigid(1, 0, 50, 4, 100) + rigid(2, 50, 100, 4, 100)}
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		r := grid(t, fmt.Sprintf(`mapping: mct
sites: [{name: a, trace: a.swf, procs: 4, policy: %s}, {name: b, procs: 4, speed: 0.75, policy: %[1]s}]
`, policy), traces)
		wantSchedule(t, r, "1@0-50a 2@50-150a")
	}
}

// A walltime is rounded up to whole seconds, a runtime to the microsecond:
// 100/1.2 is 84 and 83.333334. Of job 3 the runtime is 84.166667.
func TestSpeedScalesWalltimeAndRuntime(t *testing.T) {
	traces := map[string]string{"t.swf": rigid(1, 0, 100, 1, 100) + rigid(2, 0, 50, 1, 120) + rigid(3, 0, 101, 1,
		100) + rigid(4, 0, 0, 1, 1)}
	for _, mapping := range []string{"none", "mct"} {
		r := grid(t, "mapping: "+mapping+"\nsites: [{name: a, trace: t.swf, procs: 4, speed: 1.2, policy: cbf}]\n",
			traces)
		wantSchedule(t, r, "1@0-83.333334 2@0-41.666667 3@0-84! 4@0-0")
		for i, want := range []float64{84, 100, 84, 1} {
			if got := r.Outcomes[i].Walltime.Seconds(); got != want {
				t.Errorf("mapping %s: job %d has a walltime of %v s, want %v s", mapping, i+1, got, want)
			}
		}
	}
	r := grid(t, "overrun: extend\nsites: [{name: a, trace: t.swf, procs: 4, speed: 1.2, policy: cbf}]\n", traces)
	wantSchedule(t, r, "1@0-83.333334 2@0-41.666667 3@0-84.166667 4@0-0")
}

func TestJobsTooWideForTheirHomeRunElsewhereUnderMCT(t *testing.T) {
	traces := map[string]string{
		"a.swf": rigid(1, 0, 10, 4, 10) + rigid(2, 1, 10, 8, 10) + rigid(3, 2, 10, 9, 10) + rigid(4, 3, -1, 1, 10),
		"b.swf": rigid(5, 0, 10, 8, 10) + rigid(6, 0, 10, 99, 10),
	}
	const sites = "sites: [{name: a, trace: a.swf, procs: 4, policy: cbf}, {name: b, trace: b.swf, procs: 8, policy: " +
		"fcfs}]\n"
	for _, c := range []struct {
		mapping, want string
		a, b, all     sim.Rejected
	}{
		{
			"none", "1@0-10a 5@0-10b",
			sim.Rejected{UnknownRuntime: 1, TooWide: 2},
			sim.Rejected{TooWide: 1},
			sim.Rejected{UnknownRuntime: 1, TooWide: 3},
		},
		{
			"mct", "1@0-10a 5@0-10b 2@10-20b",
			sim.Rejected{UnknownRuntime: 1, TooWide: 1},
			sim.Rejected{TooWide: 1},
			sim.Rejected{UnknownRuntime: 1, TooWide: 2},
		},
	} {
		r := grid(t, "mapping: "+c.mapping+"\n"+sites, traces)
		wantSchedule(t, r, c.want)
		if a, b, all := r.Summary.Sites[0].Rejected, r.Summary.Sites[1].Rejected, r.Summary.Rejected; a != c.a ||
			b != c.b || all != c.all {
			t.Errorf("mapping %s: rejected %+v, %+v, in all %+v; want %+v, %+v, %+v", c.mapping, a, b, all, c.a, c.b,
				c.all)
		}
	}
}

func TestAlignMovesEveryTraceToInstantZero(t *testing.T) {
	traces := map[string]string{
		"a.swf": rigid(1, 1000, 10, 4, 10) + rigid(2, 1005, 10, 4, 10), "b.swf": rigid(3, 4000, 10, 4, 10),
	}
	const sites = "\nsites: [{name: a, trace: a.swf, procs: 4, policy: cbf}, {name: b, trace: b.swf, procs: 4, " +
		"policy: cbf}]\n"
	for align, want := range map[string]string{
		"":             "1@0-10a 3@0-10b 2@10-20a",
		"align: true":  "1@0-10a 3@0-10b 2@10-20a",
		"align: false": "1@1000-1010a 2@1010-1020a 3@4000-4010b",
	} {
		r := grid(t, align+sites, traces)
		wantSchedule(t, r, want)
		if want := map[string]float64{
			"": 20, "align: true": 20, "align: false": 3010,
		}[align]; r.Summary.Makespan != want {
			t.Errorf("%q: makespan %v, want %v", align, r.Summary.Makespan, want)
		}
	}
}

func TestFiguresOfAGridArePerSiteAndOfAll(t *testing.T) {
	r := grid(t, "sites: [{name: a, trace: a.swf, procs: 4, policy: cbf}, {name: b, trace: b.swf, procs: 12, speed: "+
		"2, policy: fcfs}, {name: c, procs: 1, policy: easy}]\n",
		map[string]string{
			"a.swf": rigid(1, 0, 100, 4, 100) + rigid(2, 0, 100, 4, 100), "b.swf": rigid(3, 0, 100, 6, 60),
		})
	for i, want := range []struct {
		name, policy, speed  string
		procs                int32
		jobs, killed         int
		makespan, used, wait float64
	}{
		{"a", "cbf", "1", 4, 2, 0, 200, 1, 50},
		{"b", "fcfs", "2", 12, 1, 1, 30, 0.5, 0},
		{"c", "easy", "1", 1, 0, 0, 0, 0, 0},
		{"all", "", "", 0, 3, 1, 200, (800. + 180) / (17 * 200), 100. / 3},
	} {
		got := sim.SiteSummary{Name: "all", Figures: r.Summary.Figures}
		if i < len(r.Summary.Sites) {
			got = r.Summary.Sites[i]
		}
		if got.Name != want.name || got.Policy != want.policy || got.Speed != want.speed ||
			got.Processors != want.procs || got.Jobs != want.jobs ||
			got.Killed != want.killed || got.Makespan != want.makespan || got.Utilization != want.used ||
			got.WaitMean != want.wait {
			t.Errorf("site %+v, want %+v", got, want)
		}
	}
}

// TestGridOfOneSiteMatchesASingleCluster whether jobs are mapped or stay at home.
// Jobs run for a second or more: before a site is asked for a quote it makes the
// pass that is due, where alone it makes one for the whole instant, and a job
// that starts in that pass and takes no time is gone for the next submission.
func TestGridOfOneSiteMatchesASingleCluster(t *testing.T) {
	for _, policy := range []string{"fcfs", "easy", "cbf"} {
		for _, mapping := range []string{"mct", "none"} {
			t.Run(policy+"-"+mapping, func(t *testing.T) {
				dir := files(t, map[string]string{
					"s.yaml": fmt.Sprintf(
						"version: 1\nmapping: %s\nalign: false\n"+
							"sites: [{name: site, trace: t.swf, procs: 8, policy: %s}]\n", mapping, policy,
					),
				})
				path, file := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "t.swf")
				rapid.Check(t, func(t *rapid.T) {
					lines := drawTrace(t, 8)
					if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
						t.Fatal(err)
					}
					alone := sim.Single{Trace: file, Procs: 8, Policy: policy}
					want, err := alone.Run(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					s, err := sim.ReadScenario(path)
					if err != nil {
						t.Fatal(err)
					}
					got, err := s.Run(context.Background(), path, nil)
					if err != nil {
						t.Fatal(err)
					}
					if a, b := schedule(want), schedule(got); a != b {
						t.Fatalf("%s\nalone %s\n grid %s", lines, a, b)
					}
				})
			})
		}
	}
}

// drawTrace draws up to 25 jobs, a few of them wider than the machine.
func drawTrace(t *rapid.T, procs int) string {
	var lines strings.Builder
	now := 0
	for i := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		now += rapid.IntRange(0, 30).Draw(t, "gap")
		run := rapid.IntRange(1, 60).Draw(t, "run")
		walltime := max(1, run+rapid.IntRange(-5, 40).Draw(t, "more"))
		lines.WriteString(rigid(i+1, now, run, rapid.IntRange(1, procs+1).Draw(t, "width"), walltime))
	}
	return lines.String()
}
