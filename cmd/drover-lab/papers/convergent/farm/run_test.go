package farm

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// byHand has machines of score 200 and 400, the slow one without license 0. The first
// job has a deadline, the second takes its machine from it, the third has neither.
//
//	machine 1  │ 0  0  │ 1  1  1  1 │ 0  0 │     0 has done 200 of 1000 at 100
//	machine 0  │       2  2  2  2  2  2  2 │
//	           0      100          300   700
func byHand() *Instance {
	at := func(s int64) batch.Time { return batch.Time(s) * batch.Time(Unit) }
	return &Instance{
		Machines: []Machine{{Score: 200, CPUs: 2}, {Score: 400, CPUs: 4, Licenses: []int32{0}}},
		Copies:   []int32{2},
		Jobs: []Job{
			{
				Deadline: at(650), Estimate: 1000 * Unit, Reference: 200, CPUs: 4, Licenses: []int32{0},
				Input: 100 * MB, Place: 1,
			},
			{
				Submit: at(100), Deadline: at(300), Estimate: 200 * Unit, Reference: 400, CPUs: 1, Licenses: []int32{0},
				Input: 100 * MB,
			},
			{Submit: at(100), Estimate: 600 * Unit, Reference: 200, CPUs: 1, Input: 100 * MB},
		},
	}
}

func handCase() Case {
	return Case{
		Set: Loads, Algorithm: "EDF", Seed: 1, Arrival: 10, Machines: 2, Licenses: 1, Jobs: 3,
		Ratio: Range{55, 65}, Reading: Percent,
	}
}

func runToy(t *testing.T, in *Instance, c Case, y *toy) (Row, Cost) {
	t.Helper()
	y.in = in
	now := time.Duration(0)
	row, cost, err := RunOn(t.Context(), in, c, Options{
		Ledger: true, Factory: y.factory,
		Clock: func() time.Duration { now += time.Second; return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return row, cost
}

func TestARunByHand(t *testing.T) {
	row, cost := runToy(t, byHand(), handCase(), &toy{byDate: true, preempt: true})
	want := Row{
		Case: handCase(), Ended: 3, Dated: 2, Late: 1, Slowdown: 1, WorstSlowdown: 1,
		Wait: 200. / 3, Lateness: 50, Preemptions: 1, Plans: 4, Span: 700, Workload: []int{0, 3, 2},
		// One of one machine until 100, then both; job 2 alone is never left.
		MachineUsage: 1,
		// 1 of 1 until 100, 1 of 2 until 300, 1 of 1 until 700.
		LicenseUsage: 600. / 700,
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
	// Each call takes the clock a second. At 0: Submit, Decide. At 100: two Submits, Decide,
	// Stopped, Decide. At 300: an end, Decide, Resumed, Decide. At 700: two ends, Decide.
	if cost.Plans != 4 || cost.First != 2 || cost.Median != 4 || cost.Longest != 5 || cost.Seconds != 2+5+4+3 {
		t.Errorf("cost: %+v", cost)
	}
}

// A MB a unit: each of the 100 units is held. Job 0's input lies where it runs, that of
// job 1 and 2 on machine 0, so that job 1 begins at 200 and has done nothing by then.
func TestMovingInputHoldsTheMachine(t *testing.T) {
	c := handCase()
	c.Rate = 1
	row, _ := runToy(t, byHand(), c, &toy{byDate: true, preempt: true})
	if row.Span != 800 || row.Late != 2 || row.Lateness != 125 || row.Wait != 100 {
		t.Errorf("span %v, late %d by %v, waiting %v", row.Span, row.Late, row.Lateness, row.Wait)
	}
}

func TestSlowdownIsOfTheTimeOnMachines(t *testing.T) {
	in := byHand()
	in.Machines = in.Machines[1:]
	for i := range in.Jobs {
		in.Jobs[i].Deadline, in.Jobs[i].Place = 0, 0
	}
	c := handCase()
	c.Machines = 1
	// Ends at 500, 700 and 1000; 500, 200 and 300 on the machine.
	row, _ := runToy(t, in, c, &toy{})
	want := (1 + 600./200 + 900./300) / 3
	if math.Abs(row.Slowdown-want) > 1e-9 || row.WorstSlowdown != 3 || row.Dated != 0 || row.LatePercent() != 0 {
		t.Errorf("slowdown %v, want %v; worst %v; dated %d", row.Slowdown, want, row.WorstSlowdown, row.Dated)
	}
}

func TestARowIsTheSameEachTimeAndWithoutAClock(t *testing.T) {
	c := Case{
		Set: Knapsacks, Algorithm: "CS_ip", Seed: 2, Arrival: 50, Machines: 20, Licenses: 40, Jobs: 100,
		Ratio: Range{40, 45}, Reading: Percent,
	}
	in := mustGenerate(t, c.Model(), c.Seed)
	first, cost := runToy(t, in, c, &toy{byDate: true, preempt: true})
	y := &toy{in: in, byDate: true, preempt: true}
	second, none, err := RunOn(t.Context(), in, c, Options{Factory: y.factory})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if none.Seconds != 0 || none.Greedy != 0 || cost.Greedy == 0 || cost.Exact == 0 || cost.Plans != none.Plans {
		t.Errorf("costs: %+v, %+v", cost, none)
	}
	k := first.Knapsacks
	if k == nil || k.Calls == 0 || k.Worst > k.Value || k.Value > 1 || k.Worst < 0.8 || k.Bound > 1 ||
		k.Proven > k.Calls {
		t.Fatalf("knapsacks: %+v", k)
	}
	for _, u := range []Usage{k.Greedy, k.Exact} {
		if u.Smallest <= 0 || u.Smallest > u.Mean || u.Mean > u.Best || u.Best > 1 {
			t.Errorf("usage: %+v", u)
		}
	}
}

func TestACaseOfGrowthEndsWithTheLastSubmission(t *testing.T) {
	c := Case{
		Set: Growth, Algorithm: "EDF", Seed: 1, Arrival: 10, Machines: 10, Licenses: 2, Jobs: 60,
		Ratio: Range{55, 65}, Reading: Percent,
	}
	in := mustGenerate(t, c.Model(), c.Seed)
	row, cost := runToy(t, in, c, &toy{})
	if row.Ended >= 60 || cost.Plans != row.Ended+1+Later {
		t.Errorf("%d ended in %d plans", row.Ended, cost.Plans)
	}
}

// idle never does anything, or, with thrash, moves a job at each wake-up.
type idle struct {
	toy
	thrash bool
	jobs   []batch.Handle
	wake   batch.Time
	on     int32
}

func (i *idle) Apply(_ batch.Time, ev *batch.Event) {
	if ev.Kind == batch.Submit {
		i.jobs = append(i.jobs, ev.Job)
	}
}

func (i *idle) Decide(now batch.Time, out *batch.Decisions) {
	if !i.thrash || now < i.wake || len(i.jobs) == 0 {
		return
	}
	kind := batch.Migrate
	if i.wake == 0 {
		kind = batch.Start
	}
	i.on = 1 - i.on
	out.Add(kind, i.jobs[0], batch.NodeAllocation{Node: i.on, Processors: 1, Share: batch.One})
	i.wake = now.Add(Unit)
}

func (i *idle) Wake() batch.Time {
	if !i.thrash || len(i.jobs) == 0 {
		return batch.Never
	}
	return i.wake
}

func TestAPolicyThatNeverEndsAJobIsReported(t *testing.T) {
	in := byHand()
	in.Jobs = in.Jobs[2:]
	in.Jobs[0].Submit, in.Jobs[0].Input = 0, 800*MB
	c := handCase()
	run := func(ctx context.Context, thrash bool) error {
		_, _, err := RunOn(ctx, in, c, Options{Factory: func(batch.Platform, batch.Settings) (batch.Policy,
			error,
		) {
			return &idle{thrash: thrash}, nil
		}})
		return err
	}
	if err := run(t.Context(), false); !errors.As(err, new(*UnendedError)) {
		t.Errorf("a policy that does nothing: %v", err)
	}
	c.Rate = 1
	in.Jobs[0].Place = 9 // on neither
	if err := run(t.Context(), true); !errors.As(err, new(*StuckError)) {
		t.Errorf("a policy that moves a job for ever: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := run(ended, true); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestUnknownAlgorithmsAreRefused(t *testing.T) {
	for _, a := range []string{"", "CS", "CS_ip k", "CS_ip a=1 a=2", "CS_ip algorithm=EDF"} {
		c := handCase()
		c.Algorithm = a
		if _, _, err := RunOn(t.Context(), byHand(), c, Options{Factory: (&toy{}).factory}); err == nil {
			t.Errorf("%q is accepted", a)
		}
	}
	if got, err := settingsOf("CS_nip deadlineK=2"); err != nil || got["algorithm"] != "CS_nip" ||
		got["deadlineK"] != "2" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestThePaperPlanHasThePapersRuns(t *testing.T) {
	p := PaperPlan()
	count, seen := map[string]int{}, map[Case]bool{}
	for _, c := range p.Cases() {
		count[c.Set]++
		if seen[c] {
			t.Errorf("twice: %+v", c)
		}
		seen[c] = true
		m := c.Model()
		if err := m.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if count[Loads] != 7*(8+14)*20 || count[Knapsacks] != 4*20 || count[Deadlines] != 5*3*5*3 ||
		count[Bandwidths] != 4*3*5*3 || count[Growth] == 0 {
		t.Errorf("%v", count)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	p.Quick = true
	if q := p.Cases(); !slices.ContainsFunc(q, func(c Case) bool {
		return c.Machines == 30 && c.Jobs == 150 &&
			c.Arrival == 20
	}) {
		t.Error("the quick plan has no smaller farm")
	}
}
