package external

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
)

// polled is a System on a cluster of so many nodes, which was polled just now.
func polled(t interface{ Fatal(...any) }, factory batch.Factory, nodes int, jobs ...Job) *System {
	s := &System{
		cfg: Config{
			Site: "a", Cluster: deaf{}, Policy: factory, Forecasters: func() Forecaster {
				return &forecast.Forecaster{}
			},
			Stale: time.Hour, MaxQueued: 1, Retain: 10,
		},
		cluster: deaf{}, title: deaf{}.Title(), base: time.Now(), log: hclog.NewNullLogger(),
		pause:   newPause(time.Second),
		pollNow: make(chan struct{}, 1), actNow: make(chan struct{}, 1), firstPoll: make(chan struct{}),
		attempts: make(map[batch.Key]*attempt), pending: make(map[batch.Key]*attempt), changes: newChanges(),
	}
	s.forecaster = s.cfg.Forecasters()
	s.epoch, s.life = instant(s.base), context.Background()
	s.view = view{first: true, full: true, taken: s.base, jobs: jobs}
	s.view.nodes.Partitions = map[string]bool{"main": true, "debug": true}
	for i := range nodes {
		s.view.nodes.List = append(s.view.nodes.List,
			Node{Name: fmt.Sprintf("n%d", i+1), Processors: 1, Memory: 1 << 30, Usable: true})
	}
	s.rebuildModel()
	if s.model == nil {
		t.Fatal("no model")
	}
	return s
}

// deaf is a Cluster that never answers. Its time limits are whole minutes.
type deaf struct{ Cluster }

func (deaf) Title() string { return "Deaf" }

func (deaf) Limit(d batch.Duration) batch.Duration {
	if d >= batch.Forever-batch.Minute {
		return batch.Forever
	}
	return (d + batch.Minute - 1) / batch.Minute * batch.Minute
}

func (deaf) Lookup(context.Context, []string, []string) ([]Record, error) {
	return nil, &UnreachableError{Command: "lookup"}
}

func (deaf) History(context.Context, []string, []string, bool) ([]Record, error) { return nil, nil }

func (deaf) CancelNamed(context.Context, string, string) error {
	return &UnreachableError{Command: "cancel"}
}

// attemptOf is the first attempt of the nth job.
func attemptOf(n int) batch.Key {
	return batch.Key{Job: batch.JobID(fmt.Sprintf("0190f2d4-1111-7abc-8def-%012d", n)), Epoch: 1, Attempt: 1}
}

func runs(id string, width int32, limit, used batch.Duration) Job {
	return Job{
		ID: id, Phase: batch.PhaseRunning, Partitions: "main", Processors: width, Limit: limit, Used: used, Tasks: 1,
	}
}

func waits(id string, width int32, limit batch.Duration, priority int64) Job {
	return Job{
		ID: id, Phase: batch.PhaseQueued, Partitions: "main", Processors: width, Limit: limit, Priority: priority,
		Tasks: 1,
	}
}

// starts returns the starts of shapes in minutes after the poll; -1 for never.
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
		out = append(out, float64(start.Sub(instant(s.view.taken))/batch.Second*10/60)/10)
	}
	return out
}

func minutes(width int32, n int) batch.Shape {
	return batch.Shape{Width: width, Walltime: batch.Duration(n) * batch.Minute}
}

// Job 1 has three of four processors for 6 more minutes. Then job 2, which has the highest
// priority, gets all four for 10 minutes, then job 3 gets two. Jobs that are held, depend
// on others, or are in a partition with other nodes do not count.
//
//	0-6: 1 1 1 .    6-16: 2 2 2 2    16-21: 3 3 . .    a job of 6 minutes starts now
func TestEstimatesCountTheJobsOfAllUsers(t *testing.T) {
	held, depends, elsewhere := waits("5", 4, batch.Hour, 0), waits("6", 4, batch.Hour, 99),
		waits("7", 4, batch.Hour, 98)
	held.Phase, depends.Blocked, elsewhere.Partitions = batch.PhaseHeld, true, "gpu"
	s := polled(t, easy.New, 4,
		waits("3", 2, 5*batch.Minute, 10), runs("1", 3, 10*batch.Minute, 4*batch.Minute),
		held, depends, elsewhere, waits("2", 4, 10*batch.Minute, 20))
	got := s.starts(t, minutes(1, 6), minutes(1, 7), minutes(2, 1), minutes(3, 1), minutes(4, 1), minutes(5, 1))
	if diff := cmp.Diff([]float64{0, 16, 16, 21, 21, -1}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// 5 minutes and 1 second count as 6 minutes; 6 minutes and 1 second as 7.
	got = s.starts(t, batch.Shape{Width: 1, Walltime: 5*batch.Minute + batch.Second},
		batch.Shape{Width: 1, Walltime: 6*batch.Minute + batch.Second})
	if diff := cmp.Diff([]float64{0, 16}, got); diff != "" {
		t.Errorf("whole minutes (-want +got)\n%s", diff)
	}
}

func TestElementsOfAnArrayCountAsJobs(t *testing.T) {
	array := waits("1_[1-4]", 2, 10*batch.Minute, 5)
	array.Tasks = 4
	if got := polled(t, easy.New, 4, array).starts(t, minutes(1, 1)); got[0] != 20 {
		t.Errorf("start %v, want 20: two at a time", got)
	}
}

// In the model job 1 starts now. The cluster plans to start it in half an hour: perhaps it
// waits for a license.
func TestAMuchLaterPlannedStartOverridesTheModel(t *testing.T) {
	planned := waits("1", 2, 20*batch.Minute, 5)
	planned.Start = time.Now().Add(30 * time.Minute).Truncate(time.Second)
	for name, factory := range map[string]batch.Factory{"easy": easy.New, "cbf": cbf.New} {
		s := polled(t, factory, 2, planned)
		if got := s.starts(t, minutes(2, 10)); got[0] != 0 {
			t.Errorf("%s: in front of it: %v", name, got)
		}
		key := attemptOf(1)
		s.view.jobs[0].Comment = Comment("a", key, "")
		s.attempts[key] = &attempt{
			key: key, desired: wantRun, stage: submitted, phase: batch.PhaseQueued,
			shape: minutes(2, 20), sent: minutes(2, 20),
		}
		s.rebuildModel()
		start, end, ok, err := s.Standing(t.Context(), key)
		if want := instant(planned.Start); err != nil || !ok || start != want || end != want.Add(20*batch.Minute) {
			t.Errorf("%s: %v after the poll, %v %v", name, start.Sub(instant(s.view.taken)), ok, err)
		}
	}
	soon := waits("1", 2, 20*batch.Minute, 5)
	soon.Start = time.Now().Add(10 * time.Second)
	if got := polled(t, easy.New, 2, soon).starts(t, minutes(2, 1)); got[0] != 20 {
		t.Errorf("a plan a few seconds later counts: %v", got)
	}
}

// Commands change the estimates at once, and the next poll does not change them again.
func TestCommandsCountInEstimatesBeforeTheNextPoll(t *testing.T) {
	for name, poll := range map[string]func(*System){
		"without a poll":            func(*System) {},
		"a poll after each command": (*System).rebuildModel,
	} {
		t.Run(name, func(t *testing.T) { checkCommands(t, poll) })
	}
}

func checkCommands(t *testing.T, poll func(*System)) {
	s := polled(t, easy.New, 2)
	spec := func(width int32) *batch.Job { return &batch.Job{Shape: minutes(width, 10)} }
	order := func(want float64, cmds ...batch.Command) {
		t.Helper()
		if err := s.Do(t.Context(), cmds); err != nil {
			t.Fatal(err)
		}
		poll(s)
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
	s.rebuildModel()
	if got := s.starts(t, minutes(2, 1)); got[0] != 0 {
		t.Errorf("after the next poll: %v", got)
	}
}

// By a poll that is a minute old, a processor becomes free half a minute later, which is
// half a minute ago. The estimate is now, not earlier.
func TestAnEstimateByAnOldPollIsNotInThePast(t *testing.T) {
	s := polled(t, easy.New, 1, runs("1", 1, 10*batch.Minute, 10*batch.Minute-30*batch.Second))
	s.base, s.view.taken = s.base.Add(-time.Minute), s.view.taken.Add(-time.Minute)
	s.epoch = instant(s.base)
	s.rebuildModel()
	ests, age, ok, err := s.Estimate(t.Context(),
		[]batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{minutes(1, 1)}}})
	if err != nil || !ok || age < batch.Minute || age > 2*batch.Minute {
		t.Fatal(age, ok, err)
	}
	if start := ests[0].Starts[0]; start > s.Now() || start < s.Now().Add(-batch.Second) {
		t.Errorf("start %v from now", start.Sub(s.Now()))
	}
	s.cfg.Stale = time.Second
	if _, _, _, err := s.Estimate(t.Context(), nil); err == nil {
		t.Error("an estimate by a poll that is too old")
	}
}

// Any queue with any commands gives the policy only events that it accepts, and estimates
// in the future.
func TestTheModelAcceptsAnyQueueAndAnyCommand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		phases := []batch.Phase{batch.PhaseQueued, batch.PhaseRunning, batch.PhasePaused, batch.PhaseStarting}
		row := rapid.Custom(func(t *rapid.T) Job {
			r := Job{
				ID:         fmt.Sprint(rapid.IntRange(1, 99).Draw(t, "id")),
				Phase:      rapid.SampledFrom(phases).Draw(t, "phase"),
				Partitions: "main",
				Processors: rapid.Int32Range(0, 9).Draw(t, "processors"),
				Limit:      batch.Duration(rapid.Int64Range(0, 1e9).Draw(t, "limit")),
				Used:       batch.Duration(rapid.Int64Range(0, 1e9).Draw(t, "used")),
				Priority:   rapid.Int64Range(0, 5).Draw(t, "priority"),
				Tasks:      rapid.IntRange(1, 3).Draw(t, "tasks"),
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
		s := polled(t, factory, rapid.IntRange(1, 6).Draw(t, "nodes"), rapid.SliceOfN(row, 0, 8).Draw(t, "rows")...)
		for range rapid.IntRange(0, 20).Draw(t, "commands") {
			key := attemptOf(rapid.IntRange(1, 4).Draw(t, "job"))
			cmd := batch.Command{
				Kind: batch.CommandKind(rapid.IntRange(1, 7).Draw(t, "kind")), Key: key,
				Restore: rapid.Bool().Draw(t, "restore"),
				Shape:   batch.Shape{Width: rapid.Int32Range(1, 7).Draw(t, "width"), Walltime: batch.Minute},
				Job: &batch.Job{Shape: batch.Shape{
					Width: rapid.Int32Range(1, 7).Draw(t, "own width"), Walltime: batch.Hour,
				}},
			}
			_ = s.Do(t.Context(), []batch.Command{cmd}) // refusals are fine
			if rapid.IntRange(0, 3).Draw(t, "poll") == 0 {
				s.view.jobs = rapid.SliceOfN(row, 0, 8).Draw(t, "rows again")
				s.compare(s.view.jobs, time.Now(), nil)
				s.rebuildModel()
			}
			asks := []batch.Ask{{
				Job:    &batch.Job{},
				Shapes: []batch.Shape{{Width: 1, Walltime: batch.Minute}, {Width: 3, Walltime: batch.Hour}},
			}}
			ests, _, ok, err := s.Estimate(t.Context(), asks)
			if err != nil || !ok || slices.ContainsFunc(ests[0].Starts, func(b batch.Time) bool {
				return b < instant(s.base)
			}) {
				t.Fatalf("%+v, %v, %v", ests, ok, err)
			}
			if _, _, _, err := s.Standing(t.Context(), key); err != nil && s.attempts[key] != nil {
				t.Fatal(err)
			}
		}
		s.work.Wait()
	})
}
