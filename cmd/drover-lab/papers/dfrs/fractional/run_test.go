package fractional

import (
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// every algorithm of the tables, and what goes beyond the paper.
func everyAlgorithm() []string {
	all := slices.Concat(Table2, Table3, Table4, Table5(), Beyond, []string{EquiPartition})
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEveryAlgorithmEndsEveryJobWithinTheMachine(t *testing.T) {
	in, err := Synthetic(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	in = in.Scale(7)
	in.Jobs = in.Jobs[:150]
	b, err := in.Bound()
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range everyAlgorithm() {
		row, err := Run(t.Context(), in, algorithm, Period, Penalty, Options{Ledger: true})
		if err != nil {
			t.Errorf("%s: %v", algorithm, err)
			continue
		}
		again, err := Run(t.Context(), in, algorithm, Period, Penalty, Options{})
		if err != nil || again != row {
			t.Errorf("%s: without a ledger, %v:\n%+v\n%+v", algorithm, err, row, again)
		}
		if row.MaxStretch < b || row.MeanStretch > row.MaxStretch || row.Demand < row.Work {
			t.Errorf("%s: bound %v, %+v", algorithm, b, row)
		}
		if (row.Period > 0) != Periodic(algorithm) {
			t.Errorf("%s has the period %v", algorithm, row.Period)
		}
		if name, err := Canonical(algorithm); err != nil || name != algorithm {
			t.Errorf("%s is written %s: %v", algorithm, name, err)
		}
	}
}

func TestJobsWithPriorityAreBetterOff(t *testing.T) {
	var mean [2]float64 // of the favoured, without and with
	for seed := 1; seed <= 5; seed++ {
		in, err := Synthetic(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		in = in.Scale(9)
		for i, algorithm := range []string{Default, Default + " priorities=" + Favoured + ":4"} {
			add := func(job int, stretch float64) {
				if ownerOf(job) == Favoured {
					mean[i] += stretch / 500
				}
			}
			if _, err := Run(t.Context(), in, algorithm, Recommended, Penalty, Options{Stretch: add}); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("mean stretch of every tenth job: %.3f, with priority %.3f", mean[0], mean[1])
	if mean[1] >= mean[0] {
		t.Errorf("mean stretch of every tenth job: %.3f, with priority %.3f", mean[0], mean[1])
	}
}

func TestNamesAreWrittenInOneWay(t *testing.T) {
	for from, want := range map[string]string{
		"GreedyPM */per/opt=min/minvt=600":    Default,
		"GreedyPM*/per match=true decay=1h":   "GreedyPM*/per/opt=min decay=1h match=true",
		"/stretch-per":                        "/stretch-per/opt=max",
		EASY:                                  EASY,
		"MCB8*":                               "MCB8*/opt=min",
		"GreedyP*/opt=min priorities=a:2,b:3": "GreedyP*/opt=min priorities=a:2,b:3",
		" Greedy/per/opt=min/minft=300  decay=90m  ": "Greedy/per/opt=min/minft=300 decay=90m",
	} {
		if got, err := Canonical(from); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", from, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "EASY decay=1h", "GreedyPM*/opt=min decay", "GreedyPM*/opt=min decay=1h decay=2h",
		"GreedyPM*/opt=min period=3s", "GreedyPM*/opt=min match=perhaps",
	} {
		if got, err := Canonical(bad); err == nil {
			t.Errorf("%q is written %q", bad, got)
		}
	}
}

// As many jobs run after a packing as one of the state that was shown keeps.
func TestWatchersOfPackingsSeeWhatThePolicyPacks(t *testing.T) {
	in, err := Synthetic(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	in = in.Scale(9)
	in.Jobs = in.Jobs[:400]
	var (
		packer  pack.Packer
		running = map[batch.Handle]bool{}
		states  int
	)
	kept := 0
	met := func(m *pack.Machine, jobs []pack.Job) {
		states++
		kept, _ = packer.Yield(m, jobs)
	}
	after := func(out *batch.Decisions) {
		for _, d := range out.List {
			switch d.Kind {
			case batch.Start, batch.Resume:
				running[d.Job] = true
			case batch.Pause:
				delete(running, d.Job)
			default:
			}
		}
	}
	wrap := func(p batch.Policy) batch.Policy {
		p.(*dfrs.Policy).WatchPackings(met)
		return &follower{Policy: p, finish: func(h batch.Handle) { delete(running, h) }, after: after, rest: func() {
			if kept > 0 && kept != len(running) {
				t.Errorf("%d jobs run, a packing keeps %d", len(running), kept)
			}
			kept = 0
		}}
	}
	if _, err := Run(t.Context(), in, statesAlgorithm, 0, Penalty, Options{Wrap: wrap}); err != nil {
		t.Fatal(err)
	}
	if states < 100 {
		t.Errorf("%d states", states)
	}
}

// follower records what a policy decides, and when it rests: at the next event, all that
// was to be paused has been.
type follower struct {
	batch.Policy
	finish func(batch.Handle)
	after  func(*batch.Decisions)
	rest   func()
	last   batch.Time
}

func (f *follower) Apply(now batch.Time, ev *batch.Event) {
	if now > f.last {
		f.rest()
	}
	f.last = now
	if ev.Kind == batch.Finish {
		f.finish(ev.Job)
	}
	f.Policy.Apply(now, ev)
}

func (f *follower) Decide(now batch.Time, out *batch.Decisions) {
	f.Policy.Decide(now, out)
	f.after(out)
}
