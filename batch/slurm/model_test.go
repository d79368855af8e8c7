package slurm

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/internal/slurmtest"
)

// shown is a system that has had one look at a cluster of so many nodes, now, and
// asks nobody.
func shown(t interface{ Fatal(...any) }, factory batch.Factory, nodes int, rows ...Row) *System {
	s := &System{
		cfg:  Config{Site: "a", Policy: factory, Forecasters: func() Forecaster { return &forecast.Forecaster{} }, Stale: time.Hour, Most: 1, Retain: 10},
		base: time.Now(), log: hclog.NewNullLogger(), look: make(chan struct{}, 1), act: make(chan struct{}, 1),
		attempts: make(map[batch.Key]*attempt), due: make(map[batch.Key]*attempt), changes: newChanges(), seen: make(chan struct{}),
	}
	s.forecaster = s.cfg.Forecasters()
	s.epoch, s.life, s.c = at(s.base), context.Background(), &Commands{Dir: "/nonexistent"}
	s.view = view{first: true, full: true, taken: s.base, rows: rows, parts: map[string]bool{"main": true, "debug": true}}
	for i := range nodes {
		s.view.nodes = append(s.view.nodes, NodeRow{Name: fmt.Sprintf("n%d", i+1), CPUs: 1, Memory: 1 << 30, Usable: true})
	}
	s.remodel()
	if s.model == nil {
		t.Fatal("no model")
	}
	return s
}

func runs(id string, width int32, limit, used batch.Duration) Row {
	return Row{ID: id, State: "RUNNING", Partition: "main", CPUs: width, Limit: limit, Used: used, NodeList: "n", Tasks: 1}
}

func waits(id string, width int32, limit batch.Duration, priority int64) Row {
	return Row{ID: id, State: "PENDING", Reason: "Priority", Partition: "main", CPUs: width, Limit: limit, Priority: priority, Tasks: 1}
}

// starts are those of shapes, in minutes from the look.
func (s *System) starts(t *testing.T, shapes ...batch.Shape) []float64 {
	t.Helper()
	ests, _, ok, err := s.Estimate(t.Context(), []batch.Ask{{Job: &batch.Job{}, Shapes: shapes}})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if ests[0].Kind != batch.Forecast {
		t.Errorf("kind %v", ests[0].Kind)
	}
	var out []float64
	for _, start := range ests[0].Starts {
		if start == batch.Never {
			out = append(out, -1)
			continue
		}
		out = append(out, float64(start.Sub(at(s.view.taken))/batch.Second*10/60)/10)
	}
	return out
}

func minutes(width int32, n int) batch.Shape {
	return batch.Shape{Width: width, Walltime: batch.Duration(n) * batch.Minute}
}

// Four processors. Job 1 has three of them for 6 more minutes; then job 2, which is
// first by priority, gets all of them for 10. Behind it jobs 3 and 4 fill up. What
// is held, depends on others, or is in a partition with nodes of its own is not in
// the way.
//
//	0-6: 1 1 1 .    6-16: 2 2 2 2    16-21: 3 3 . .    one for 6 minutes: now
func TestEstimatesCountEverybodysJobs(t *testing.T) {
	held, depends, elsewhere := waits("5", 4, batch.Hour, 0), waits("6", 4, batch.Hour, 99), waits("7", 4, batch.Hour, 98)
	held.Reason, depends.Reason, elsewhere.Partition = "JobHeldUser", "Dependency", "gpu"
	s := shown(t, easy.New, 4,
		waits("3", 2, 5*batch.Minute, 10), runs("1", 3, 10*batch.Minute, 4*batch.Minute), held, depends, elsewhere, waits("2", 4, 10*batch.Minute, 20))
	got := s.starts(t, minutes(1, 6), minutes(1, 7), minutes(2, 1), minutes(3, 1), minutes(4, 1), minutes(5, 1))
	if diff := cmp.Diff([]float64{0, 16, 16, 21, 21, -1}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// 5 minutes and 1 second are 6 minutes to Slurm; 6 minutes and 1 second are 7.
	got = s.starts(t, batch.Shape{Width: 1, Walltime: 5*batch.Minute + batch.Second}, batch.Shape{Width: 1, Walltime: 6*batch.Minute + batch.Second})
	if diff := cmp.Diff([]float64{0, 16}, got); diff != "" {
		t.Errorf("whole minutes (-want +got)\n%s", diff)
	}
}

func TestElementsOfArraysAreJobsOfTheirOwn(t *testing.T) {
	array := waits("1_[1-4]", 2, 10*batch.Minute, 5)
	array.Tasks = 4
	if got := shown(t, easy.New, 4, array).starts(t, minutes(1, 1)); got[0] != 20 {
		t.Errorf("start %v, want 20: two at a time", got)
	}
}

// Job 1 could start now as far as the model knows. Slurm says in half an hour: a
// license, perhaps.
func TestALaterStartThatSlurmHasPlannedIsBelieved(t *testing.T) {
	planned := waits("1", 2, 20*batch.Minute, 5)
	planned.Start = time.Now().Add(30 * time.Minute).Truncate(time.Second)
	for name, factory := range map[string]batch.Factory{"easy": easy.New, "cbf": cbf.New} {
		s := shown(t, factory, 2, planned)
		if got := s.starts(t, minutes(2, 10)); got[0] != 0 {
			t.Errorf("%s: before it: %v", name, got)
		}
		key := attemptOf(1)
		s.view.rows[0].Comment = comment("a", key, "")
		s.attempts[key] = &attempt{key: key, want: toRun, stage: inside, phase: batch.PhaseQueued, shape: minutes(2, 20), sent: minutes(2, 20)}
		s.remodel()
		start, end, ok, err := s.Standing(t.Context(), key)
		if want := at(planned.Start); err != nil || !ok || start != want || end != want.Add(20*batch.Minute) {
			t.Errorf("%s: as it stands: %v after the look, %v %v", name, start.Sub(at(s.view.taken)), ok, err)
		}
	}
	soon := waits("1", 2, 20*batch.Minute, 5)
	soon.Start = time.Now().Add(10 * time.Second)
	if got := shown(t, easy.New, 2, soon).starts(t, minutes(2, 1)); got[0] != 20 {
		t.Errorf("a plan a few seconds later is no news: %v", got)
	}
}

// What was ordered since the look counts before Slurm knows of it, and counts the same
// after another look.
func TestEstimatesSeeWhatWasOrderedSince(t *testing.T) {
	for name, look := range map[string]func(*System){"the same look": func(*System) {}, "another look after each order": (*System).remodel} {
		t.Run(name, func(t *testing.T) { ordered(t, look) })
	}
}

func ordered(t *testing.T, look func(*System)) {
	s := shown(t, easy.New, 2)
	spec := func(width int32) *batch.Job { return &batch.Job{Shape: minutes(width, 10)} }
	order := func(want float64, cmds ...batch.Command) {
		t.Helper()
		if err := s.Do(t.Context(), cmds); err != nil {
			t.Fatal(err)
		}
		look(s)
		if got := s.starts(t, minutes(2, 1)); got[0] != want {
			t.Errorf("after %v: %v, want %v", cmds[0].Kind, got, want)
		}
	}
	a, b, c := attemptOf(1), attemptOf(2), attemptOf(3)
	order(10, batch.Command{Kind: batch.CmdSubmit, Key: a, Job: spec(2)})
	order(20, batch.Command{Kind: batch.CmdSubmit, Key: b, Job: spec(2)})
	order(10, batch.Command{Kind: batch.CmdHold, Key: b})
	order(20, batch.Command{Kind: batch.CmdRelease, Key: b})
	order(30, batch.Command{Kind: batch.CmdReserve, Key: c, Job: spec(1)})
	order(20, batch.Command{Kind: batch.CmdHold, Key: c})
	order(30, batch.Command{Kind: batch.CmdConfirm, Key: c})
	order(20, batch.Command{Kind: batch.CmdCancel, Key: b})
	order(10, batch.Command{Kind: batch.CmdCancel, Key: c})
	order(0, batch.Command{Kind: batch.CmdHold, Key: a})
	order(10, batch.Command{Kind: batch.CmdPlace, Key: a, Shape: minutes(1, 10)})
	order(0, batch.Command{Kind: batch.CmdCancel, Key: a})
	s.remodel()
	if got := s.starts(t, minutes(2, 1)); got[0] != 0 {
		t.Errorf("after the next look: %v", got)
	}
}

// A look that is a minute old says that a processor is free in half a minute: that
// was half a minute ago, and it is free now.
func TestAnOldLookIsNoEarlierThanNow(t *testing.T) {
	s := shown(t, easy.New, 1, runs("1", 1, 10*batch.Minute, 10*batch.Minute-30*batch.Second))
	s.base, s.view.taken = s.base.Add(-time.Minute), s.view.taken.Add(-time.Minute)
	s.epoch = at(s.base)
	s.remodel()
	ests, age, ok, err := s.Estimate(t.Context(), []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{minutes(1, 1)}}})
	if err != nil || !ok || age < batch.Minute || age > 2*batch.Minute {
		t.Fatal(age, ok, err)
	}
	if start := ests[0].Starts[0]; start > s.Now() || start < s.Now().Add(-batch.Second) {
		t.Errorf("start %v from now", start.Sub(s.Now()))
	}
	s.cfg.Stale = time.Second
	if _, _, _, err := s.Estimate(t.Context(), nil); err == nil {
		t.Error("an estimate from a look that is too old")
	}
}

// Whatever queues look like and whatever is ordered, the policy is told nothing
// that does not fit, and estimates are of the future.
func TestModelsOfAnyQueueTakeAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []string{"PENDING", "RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING"}
		row := rapid.Custom(func(t *rapid.T) Row {
			r := Row{
				ID: fmt.Sprint(rapid.IntRange(1, 99).Draw(t, "id")), State: rapid.SampledFrom(states).Draw(t, "state"), Partition: "main",
				CPUs: rapid.Int32Range(0, 9).Draw(t, "cpus"), Limit: batch.Duration(rapid.Int64Range(0, 1e9).Draw(t, "limit")),
				Used: batch.Duration(rapid.Int64Range(0, 1e9).Draw(t, "used")), Priority: rapid.Int64Range(0, 5).Draw(t, "priority"),
				Tasks: rapid.IntRange(1, 3).Draw(t, "tasks"),
			}
			if rapid.IntRange(0, 5).Draw(t, "unlimited") == 0 {
				r.Limit = batch.Forever
			}
			if rapid.Bool().Draw(t, "own") {
				r.Name = Name(attemptOf(rapid.IntRange(1, 4).Draw(t, "which")))
			}
			if rapid.Bool().Draw(t, "planned") {
				r.Start = time.Now().Add(time.Duration(rapid.IntRange(-60, 600).Draw(t, "start")) * time.Second)
			}
			return r
		})
		factory := rapid.SampledFrom([]batch.Factory{easy.New, cbf.New}).Draw(t, "policy")
		s := shown(t, factory, rapid.IntRange(1, 6).Draw(t, "nodes"), rapid.SliceOfN(row, 0, 8).Draw(t, "rows")...)
		for range rapid.IntRange(0, 20).Draw(t, "orders") {
			key := attemptOf(rapid.IntRange(1, 4).Draw(t, "job"))
			cmd := batch.Command{
				Kind: batch.CommandKind(rapid.IntRange(1, 7).Draw(t, "kind")), Key: key, Restore: rapid.Bool().Draw(t, "restore"),
				Shape: batch.Shape{Width: rapid.Int32Range(1, 7).Draw(t, "width"), Walltime: batch.Minute},
				Job:   &batch.Job{Shape: batch.Shape{Width: rapid.Int32Range(1, 7).Draw(t, "own width"), Walltime: batch.Hour}},
			}
			_ = s.Do(t.Context(), []batch.Command{cmd}) // refusals are as they are
			if rapid.IntRange(0, 3).Draw(t, "look") == 0 {
				s.view.rows = rapid.SliceOfN(row, 0, 8).Draw(t, "rows again")
				s.compare(s.view.rows, time.Now(), nil)
				s.remodel()
			}
			asks := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{{Width: 1, Walltime: batch.Minute}, {Width: 3, Walltime: batch.Hour}}}}
			ests, _, ok, err := s.Estimate(t.Context(), asks)
			if err != nil || !ok || slices.ContainsFunc(ests[0].Starts, func(b batch.Time) bool { return b < at(s.base) }) {
				t.Fatalf("%+v, %v, %v", ests, ok, err)
			}
			if _, _, _, err := s.Standing(t.Context(), key); err != nil && s.attempts[key] != nil {
				t.Fatal(err)
			}
		}
		s.work.Wait()
	})
}

// Against Slurm itself: what waits behind a local user's job starts when that one's
// limit is over, at the latest.
func TestForecastsOfARealClusterAreThoseOfItsQueue(t *testing.T) {
	s := start(t, 3)
	s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "-n", "2", "-t", "5", "--wrap", "sleep 300")
	s.cluster.Run(t, "sbatch", "--parsable", "-o", "/dev/null", "-n", "3", "-t", "10", "--wrap", "sleep 300")
	ask := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{minutes(1, 2), minutes(1, 30), minutes(3, 1)}}}
	var got []time.Duration
	slurmtest.Until(t, "the queue is seen", func() bool {
		ests, age, ok, err := s.Estimate(t.Context(), ask)
		if err != nil || !ok {
			return false
		}
		if age > 5*batch.Second {
			t.Fatalf("a look is %v old", age)
		}
		got = got[:0]
		for _, b := range ests[0].Starts {
			got = append(got, b.Sub(s.Now()).Std().Round(time.Minute))
		}
		return got[2] == 15*time.Minute
	})
	if diff := cmp.Diff([]time.Duration{0, 15 * time.Minute, 15 * time.Minute}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	key := s.submit(1, 1, 2*batch.Minute, "true")
	if f := s.awaitPhase(key, batch.PhaseEnded); f.Outcome.End != batch.EndDone {
		t.Errorf("one that fits before: %+v", f)
	}
}
