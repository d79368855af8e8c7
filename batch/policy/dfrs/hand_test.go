package dfrs_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

const second = batch.Time(batch.Second)

// one returns a job with tasks that each need a whole processor; times are in seconds.
func one(h batch.Handle, at, tasks int, memory int64, work int) arrival {
	return arrival{at: batch.Time(at) * second, work: batch.Duration(work) * batch.Second, spec: batch.Job{
		Handle: h, CPU: batch.One, Memory: memory, Shape: batch.Shape{Width: int32(tasks), Walltime: batch.Hour},
	}}
}

// decided returns the decisions of a policy and the ends of the jobs, one per line.
func decided(t *testing.T, platform batch.Platform, s batch.Settings, jobs ...arrival) string {
	t.Helper()
	o := newObserved()
	o.log = true
	replay(policy(t, platform, s), o, engine.NewLedger(platform), jobs)
	return strings.Join(o.decided, "\n")
}

func wantDecided(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/rows.txt; review it before committing")

// Four jobs on two nodes of 10 bytes: 1 has two tasks of 6, 2 one of 6, 3 one of 4, 4 one of 1.
// All rows of table 1 have been checked by hand.
func TestEachRowOfTable1(t *testing.T) {
	var got strings.Builder
	for _, a := range dfrs.All() {
		if a.Limit == dfrs.NoLimit && a.Opt != dfrs.Avg {
			fmt.Fprintf(&got, "%v\n%s\n\n", a,
				decided(t, cluster(2, 10), batch.Settings{"algorithm": a.String(), "period": "5s"},
					one(1, 0, 2, 6, 8), one(2, 1, 1, 6, 2), one(3, 2, 1, 4, 4), one(4, 6, 1, 1, 1)))
		}
	}
	const name = "testdata/rows.txt"
	if *rewrite {
		if err := os.WriteFile(name, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Job 3 needs both nodes. Jobs 1 and 2 are equal except for their order, so 2 has the lower
// priority; it fits beside 1.
func TestGreedyPMMovesWhereGreedyPPauses(t *testing.T) {
	jobs := []arrival{one(1, 0, 1, 6, 10), one(2, 0, 1, 4, 10), one(3, 1, 2, 5, 1)}
	wantDecided(t, `
0 start #1 0:1@100%
0 start #2 1:1@100%
1 share #1 0:1@50%
1 migrate #2 0:1@50%
1 start #3 1:2@50%
3 end #3
19 end #1
19 end #2`, decided(t, cluster(2, 10), batch.Settings{"algorithm": "GreedyPM*"}, jobs...))
	wantDecided(t, `
0 start #1 0:1@100%
0 start #2 1:1@100%
1 pause #2
1 start #3 1:2@50%
3 end #3
3 resume #2 1:1@100%
10 end #1
12 end #2`, decided(t, cluster(2, 10), batch.Settings{"algorithm": "GreedyP*"}, jobs...))
}

// Job 3 needs 6 bytes. Jobs 2 and then 1 are marked; without both 3 fits, and then 2 can stay.
func TestGreedyPPausesNoJobThatCanStay(t *testing.T) {
	wantDecided(t, `
0 start #1 0:1@50%
0 start #2 0:1@50%
1 pause #1
1 start #3 0:1@50%
3 end #3
3 resume #1 0:1@50%
18 end #2`, strings.Join(strings.Split(decided(t, cluster(1, 10), batch.Settings{"algorithm": "GreedyP*"},
		one(1, 0, 1, 7, 9), one(2, 0, 1, 1, 9), one(3, 1, 1, 6, 1)), "\n")[:7], "\n"))
}

// At 5 job 1 has a virtual time of 2.5 s. Jobs younger than the limit stay on their nodes or do
// not run; MCB8 would move both.
func TestMCB8DoesNotMoveYoungJobs(t *testing.T) {
	jobs := []arrival{one(1, 0, 1, 3, 4), one(2, 0, 1, 3, 4), one(3, 0, 1, 5, 4)}
	free := decided(t, cluster(2, 10), batch.Settings{"algorithm": "Greedy/per", "period": "1s"}, jobs...)
	pinned := decided(t, cluster(2, 10), batch.Settings{"algorithm": "Greedy/per/minvt=600", "period": "1s"}, jobs...)
	if !strings.Contains(free, "migrate") || strings.Contains(pinned, "migrate") || strings.Contains(pinned, "pause") {
		t.Errorf("free:\n%s\npinned:\n%s", free, pinned)
	}
}

// At 5 job 1 has had 5 s in 5 s, job 2 nothing in 4 s. With (5+5y)/10 = 5(1-y)/9 both have the
// same stretch at 10: y = 1/19.
func TestStretchPerEqualizesExpectedStretches(t *testing.T) {
	got := decided(t, cluster(1, 10), batch.Settings{"algorithm": "/stretch-per", "period": "5s"}, one(1, 0, 1, 1, 30),
		one(2, 1, 1, 1, 30))
	want := "0 start #1 0:1@100%\n5 share #1 0:1@5%\n5 start #2 0:1@95%\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Node 1 has needs of 1/2 and 1: a yield of 2/3 for both jobs. The first group's task on node 0
// has the same yield, although it is alone there. 10 s take 15.
func TestGroupsOfOneJobHaveOneYield(t *testing.T) {
	platform := cluster(2, 10)
	jobs := []arrival{one(1, 0, 2, 1, 10), one(2, 0, 1, 1, 10)}
	jobs[0].spec.Groups = []batch.TaskGroup{
		{Tasks: 1, CPU: batch.One, Memory: 8}, {Tasks: 1, CPU: batch.One / 2, Memory: 4},
	}
	wantDecided(t, `
0 start #1 0:1@67% 1:1@33%
0 start #2 1:1@67%
15.000015 end #1
15.000015 end #2`, decided(t, platform, batch.Settings{"algorithm": "Greedy*/opt=min"}, jobs...))
}

// The proof of theorem 4: with EquiPartition all jobs end at the same time, n after the last
// submission; the last job, of length 1, has a stretch of n.
func TestEquiPartitionOnTheInstanceOfTheorem4(t *testing.T) {
	const n = 6
	const unit = 60 * batch.Second
	jobs := make([]arrival, n)
	at := batch.Time(0)
	for i := 1; i <= n; i++ {
		length := batch.Duration(n-1) * unit / batch.Duration(max(1, i-1))
		if i > 2 {
			at = at.Add(jobs[i-2].work)
		}
		jobs[i-1] = one(batch.Handle(i), 0, 1, 0, 0)
		jobs[i-1].at, jobs[i-1].work = at, length
	}
	o := newObserved()
	replay(policy(t, cluster(1, 10), batch.Settings{"algorithm": "EquiPartition"}), o, engine.NewLedger(cluster(1, 10)),
		jobs)
	for h, end := range o.ended {
		if off := end.Sub(at) - n*unit; off < 0 || off > 2*batch.Millisecond {
			t.Errorf("job %d ends %v after the last one came, want %v", h, end.Sub(at), n*unit)
		}
	}
}

// From 15 on job 1 has had more than the decay, and half the weight of job 2; an hour later it
// would have a sixteenth.
func TestDecayLowersTheWeightOfJobsWithMuchService(t *testing.T) {
	got := decided(t, cluster(1, 10), batch.Settings{"algorithm": "Greedy*", "decay": "10s"}, one(1, 0, 1, 1, 100),
		one(2, 15, 1, 1, 2))
	wantDecided(t, `
0 start #1 0:1@100%
15 share #1 0:1@33%
15 start #2 0:1@67%
18.000003 end #2
18.000003 share #1 0:1@100%
102.000003 end #1`, got)
}

func TestOwnersWithPriorityHaveMore(t *testing.T) {
	jobs := []arrival{one(1, 0, 1, 1, 3), one(2, 0, 1, 1, 1)}
	jobs[0].spec.Owner = "alice"
	wantDecided(t, `
0 start #1 0:1@75%
0 start #2 0:1@25%
4 end #1
4 end #2`, decided(t, cluster(1, 10), batch.Settings{"algorithm": "Greedy*", "priorities": "alice:3"}, jobs...))
}

// Job 1 has 10 s left, and so has the job of the ask: on half a node each, both take 20.
// Without a walltime the remaining time is unknown: job 1 is assumed to run twice as long as it
// has, or 6 s if five earlier jobs like it took 6 s.
func TestForecastsByHand(t *testing.T) {
	ask := batch.Ask{Job: &batch.Job{CPU: batch.One}, Shapes: []batch.Shape{{Width: 1, Walltime: 10 * batch.Second}}}
	for _, c := range []struct {
		walltime batch.Duration
		learn    int
		end      batch.Time
	}{{12 * batch.Second, 0, 22}, {0, 0, 14}, {0, 5, 16}} {
		p := policy(t, cluster(1, 10), batch.Settings{"algorithm": "Greedy*"})
		for range c.learn {
			p.Learn("u", "a", 0, 6*batch.Second)
		}
		spec := &batch.Job{
			Handle: 1, CPU: batch.One, Owner: "u", Name: "a", Shape: batch.Shape{Width: 1, Walltime: c.walltime},
		}
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: spec})
		p.Decide(0, &batch.Decisions{})
		var f forecast.Forecaster
		out := make([]batch.Estimate, 1)
		if !f.Estimate(2*second, p, []batch.Ask{ask}, out) || out[0].Kind != batch.Forecast {
			t.Fatalf("%+v", out)
		}
		if got := out[0].Ends[0]; out[0].Starts[0] != 2*second || got-c.end*second > second/100 || got < c.end*second {
			t.Errorf("%v, %d learnt: %d-%d, want 2-%d s", c.walltime, c.learn, out[0].Starts[0], got, c.end)
		}
	}
}

func TestAsksForWindowsAndAgreementsAreRefused(t *testing.T) {
	p := policy(t, cluster(1, 10), nil)
	var f forecast.Forecaster
	for _, job := range []*batch.Job{{Window: &batch.Window{Start: 5, End: 9}}, {Agreed: true}} {
		out := make([]batch.Estimate, 1)
		f.Estimate(0, p, []batch.Ask{{Job: job, Shapes: []batch.Shape{{Width: 1, Walltime: 1}}}}, out)
		if out[0].Starts[0] != batch.Never {
			t.Errorf("%+v: %+v", job, out[0])
		}
	}
}
