package site

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

var (
	neverRan = batch.Outcome{End: batch.EndNeverRan, Reason: "its supervisor died"}
	lost     = batch.Outcome{End: batch.EndLost, Reason: "its end was not observed"}
)

func TestAnAttemptThatNeverRanIsFollowedByAnotherOne(t *testing.T) {
	for _, from := range []State{Waiting, Starting, Held, Moving, Running} {
		s, key := in(t, from)
		j, err := s.Ended(5, key, neverRan, nil)
		if err != nil || j.State != Waiting || j.Attempt != 2 || j.Started != batch.Never || j.Ended != batch.Never ||
			j.Run != nil || j.busy {
			t.Errorf("%v: %+v %v", from, j, err)
		}
		if j.Transit != nil && j.Transit.Round != "" || s.Wake() != batch.Never {
			t.Errorf("%v: a move or a round is still pending: %+v", from, j.Transit)
		}
		fx := take(s, 5)
		next := batch.Key{Job: "a", Attempt: 2}
		if len(fx.Plans) != 1 || fx.Plans[0].Kind != batch.CmdSubmit || fx.Plans[0].Key != next {
			t.Errorf("%v: plans %+v", from, fx.Plans)
		}
		if got := kinds(fx.Messages); from == Moving && (len(got) != 1 || got[0] != Drop) ||
			from != Moving && got != nil {
			t.Errorf("%v: messages %v", from, got)
		}
		// An event of the old attempt is refused.
		_, err = s.Running(6, key, nil, nil)
		refused(t, err, problem.UnknownJob, "job_id")
		if _, err = s.Starting(6, next); err != nil {
			t.Error(err)
		}
	}
}

// The job has one attempt left, and keeps it.
func TestAttemptsThatTheHostCouldNotLaunchDoNotCount(t *testing.T) {
	s, key := in(t, Starting)
	short := neverRan
	short.HostFault = true
	end := func(o batch.Outcome) Job {
		t.Helper()
		j, err := s.Ended(5, key, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		key = j.Key()
		return j
	}
	for range s.config.Attempts - 1 {
		end(neverRan)
	}
	for range 2 * s.config.Attempts {
		if j := end(short); j.State != Waiting || j.FailedAttempts != s.config.Attempts-1 {
			t.Fatalf("after a fault of the host: %+v", j)
		}
	}
	if j := end(neverRan); j.State != Failed {
		t.Errorf("after the last attempt: %+v", j)
	}
}

func TestStartingRecordsTheAllocation(t *testing.T) {
	s, key := in(t, Waiting)
	places := []batch.NodeAllocation{{Node: 1, Processors: 2}}
	if _, err := s.Starting(1, key, places...); err != nil {
		t.Fatal(err)
	}
	places[0].Node = 9
	if w := take(s, 1).Writes[0].Record; w.State != "starting" || len(w.Run.Places) != 1 || w.Run.Places[0].Node != 1 {
		t.Errorf("%+v", w.Run)
	}
	// The node was down, so the attempt is launched on another one.
	if _, err := s.Starting(2, key, batch.NodeAllocation{Node: 3, Processors: 2}); err != nil {
		t.Fatal(err)
	}
	if fx := take(s, 2); len(fx.Writes) != 1 || fx.Writes[0].Record.Run.Places[0].Node != 3 {
		t.Errorf("after the second launch: %+v", fx.Writes)
	}
	if _, err := s.Starting(2, key, batch.NodeAllocation{Node: 3, Processors: 2}); err != nil ||
		len(take(s, 2).Writes) != 0 {
		t.Errorf("a repeated start is written: %v", err)
	}
	if j, err := s.Ended(2, key, neverRan, nil); err != nil || j.Run != nil {
		t.Errorf("the next attempt has the old allocation: %+v %v", j.Run, err)
	}
}

func TestAnUnlaunchedAttemptWaitsAgain(t *testing.T) {
	s, key := in(t, Waiting)
	places := []batch.NodeAllocation{{Node: 1, Processors: 2}}
	if _, err := s.Starting(1, key, places...); err != nil {
		t.Fatal(err)
	}
	take(s, 1)
	if err := s.Unlaunched(key); err != nil {
		t.Fatal(err)
	}
	fx := take(s, 1)
	if len(fx.Writes) != 1 || fx.Writes[0].Record.State != "waiting" || fx.Writes[0].Record.Run != nil ||
		len(fx.Plans) != 0 {
		t.Errorf("%+v", fx)
	}
	if j := wants(t, s, "a", Waiting); j.Attempt != 1 || j.busy || s.Load().Busy != 0 {
		t.Errorf("%+v, %+v", j, s.Load())
	}
	if _, err := s.Starting(2, key, places...); err != nil {
		t.Error(err)
	}
	// An attempt that runs or is being cancelled does not change.
	_, _ = s.Running(3, key, nil, places)
	if err := s.Unlaunched(key); err != nil || job(t, s, "a").State != Running {
		t.Errorf("%v, %v", job(t, s, "a").State, err)
	}
	if err := s.Unlaunched(batch.Key{Job: "a", Attempt: 7}); err == nil {
		t.Error("an unknown attempt is accepted")
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	for name, outcome := range map[string]batch.Outcome{"never ran": neverRan, "lost": lost} {
		t.Run(name, func(t *testing.T) {
			s, err := New(Config{Name: "s", Platform: batch.Processors(4), Attempts: 3})
			if err != nil {
				t.Fatal(err)
			}
			submit(t, s, 0, "a", &Request{Menu: menu(1, 1), Idempotent: true})
			for i := range 3 {
				j := job(t, s, "a")
				wants(t, s, "a", Waiting)
				_, _ = s.Starting(1, j.Key())
				if _, err := s.Ended(2, j.Key(), outcome, nil); err != nil || j.Attempt != uint32(i+1) {
					t.Fatalf("attempt %d: %v", j.Attempt, err)
				}
			}
			if j := wants(t, s, "a", Failed); j.Outcome() != outcome || j.Attempt != 3 || s.Load().Ended != 1 {
				t.Errorf("%+v", j)
			}
		})
	}
}

func TestLostAttemptIsRepeatedOnlyIfTheJobIsRestartable(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := named(t, "s")
		j := submit(t, s, 0, "a", &Request{Menu: menu(1, 1), Idempotent: again})
		_, _ = s.Running(1, j.Key(), nil, nil)
		got, err := s.Ended(2, j.Key(), lost, nil)
		want := map[bool]State{false: Failed, true: Waiting}[again]
		if err != nil || got.State != want || again != (got.Attempt == 2) ||
			!again && got.Outcome().Reason != lost.Reason {
			t.Errorf("restartable %v: %+v %v", again, got, err)
		}
	}
}

func TestAClaimDecidesAboutAHandover(t *testing.T) {
	t.Run("won", func(t *testing.T) {
		s, key := in(t, Yielding)
		s.Claimed(2, key, true)
		fx := take(s, 2)
		same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
		same(t, "messages", fx.Messages, []Message{{Kind: Confirm, From: "s", To: "t", Job: "a", Epoch: 1}})
		j := wants(t, s, "a", Gone)
		if j.MovedTo() != "t" || !j.Kept || len(fx.Discard) != 0 || s.Load() != (Load{Processors: 4}) {
			t.Errorf("%+v, discarded %v, %+v", j, fx.Discard, s.Load())
		}
		_, err := s.Starting(3, key)
		if err == nil {
			t.Error("a job that moved away can start")
		}
	})
	t.Run("lost", func(t *testing.T) {
		s, key := in(t, Yielding)
		s.Claimed(2, key, false)
		fx := take(s, 2)
		same(t, "messages", fx.Messages, []Message{{Kind: Drop, From: "s", To: "t", Job: "a", Epoch: 1}})
		if j := wants(t, s, "a", Starting); !j.busy || j.MovedTo() != "" || len(fx.Commands) != 0 ||
			j.Moves()[0].State != MoveAborted {
			t.Errorf("%+v, %+v", j, fx.Commands)
		}
		if j, err := s.Ended(3, key, batch.Outcome{End: batch.EndDone}, nil); err != nil || j.State != Done ||
			j.Epoch != 1 {
			t.Errorf("%+v %v", j, err)
		}
	})
	t.Run("of a job out of a round", func(t *testing.T) {
		s, key := in(t, Held)
		_, _ = s.Place(1, "r", "", []Placement{{Job: "a", To: "t"}})
		s.Receive(1, &Message{Kind: Reserved, From: "t", Job: "a", Epoch: 1}, idle("a", 1))
		wants(t, s, "a", Yielding)
		s.Claimed(2, key, false)
		if j := wants(t, s, "a", Starting); j.Transit.Round != "" {
			t.Error("the started job is still in the round")
		}
	})
}

func TestNumbersOfUndoneAttemptsAreNotReused(t *testing.T) {
	s := &Site{}
	s.Void(batch.Key{Job: "a", Epoch: 0, Attempt: 1})
	s.Void(batch.Key{Job: "a", Epoch: 2, Attempt: 3})
	s.Void(batch.Key{Job: "a", Epoch: 2, Attempt: 2})
	for _, c := range []struct {
		job            batch.JobID
		under, attempt uint32
		want           uint32
	}{
		{"a", 0, 0, 2}, {"a", 1, 0, 1}, {"a", 2, 0, 4}, {"a", 2, 1, 4}, {"a", 2, 7, 8}, {"b", 0, 0, 1},
	} {
		if got := s.attemptAfter(c.job, c.under, c.attempt); got != c.want {
			t.Errorf("after attempt %d of job %s under %d: %d, want %d", c.attempt, c.job, c.under, got, c.want)
		}
	}
}

func TestMeasurementsAreDurableAndKeptForTheNextAttempt(t *testing.T) {
	s, first := saving(t)
	want := Measured{CPU: batch.One / 4, Memory: 5000}
	s.Measured(first, want)
	fx := take(s, sec(20))
	if len(fx.Writes) != 1 || fx.Writes[0].Record.Measured == nil || *fx.Writes[0].Record.Measured != want {
		t.Fatalf("%+v", fx.Writes)
	}
	again := named(t, "lyon") // the server is killed here
	if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, job(t, again, first.Job).Measured); diff != "" {
		t.Error(diff)
	}
	s.Measured(first, want)
	if fx := take(s, sec(20)); len(fx.Writes) != 0 {
		t.Errorf("an unchanged measurement was written: %+v", fx.Writes)
	}
	fx = stops(t, s, 40, first)
	if fx.Plans[0].Job.CPU != 0 {
		t.Errorf("the next attempt declares %+v", fx.Plans[0].Job)
	}
	if diff := cmp.Diff(&want, job(t, s, first.Job).Measured); diff != "" {
		t.Error(diff)
	}
	s.Measured(first, Measured{CPU: 1}) // of the previous attempt
	second := fx.Plans[0].Key
	for _, bad := range []Measured{{}, {CPU: batch.One + 1}, {CPU: 1, Memory: -1}} {
		s.Measured(second, bad)
	}
	if fx := take(s, sec(41)); len(fx.Writes) != 0 {
		t.Errorf("%+v", fx.Writes)
	}
	begins(t, s, 50, second)
	if _, err := s.Ended(sec(60), second, batch.Outcome{End: batch.EndDone}, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, job(t, s, first.Job).Measured); diff != "" {
		t.Error(diff)
	}
	if err := s.Forget(first.Job); err != nil {
		t.Fatal(err)
	}
	if fx := take(s, sec(70)); len(fx.Writes) != 1 || fx.Writes[0].Record.Measured != nil {
		t.Errorf("a tombstone: %+v", fx.Writes)
	}
}
