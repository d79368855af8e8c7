package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

var (
	neverRan = batch.Outcome{End: batch.EndNeverRan, Reason: "its supervisor died"}
	lost     = batch.Outcome{End: batch.EndLost, Reason: "nobody saw its end"}
)

func TestAnAttemptThatNeverRanIsFollowedByAnotherOne(t *testing.T) {
	for _, from := range []State{Waiting, Starting, Held, Moving, Running} {
		s, key := in(t, from)
		j, err := s.Ended(5, key, neverRan, nil)
		if err != nil || j.State != Waiting || j.Attempt != 2 || j.Started != batch.Never || j.Ended != batch.Never || j.Run != nil || j.busy {
			t.Errorf("%v: %+v %v", from, j, err)
		}
		if j.Transit != nil && j.Transit.Round != "" || s.Wake() != batch.Never {
			t.Errorf("%v: it is still wanted elsewhere: %+v", from, j.Transit)
		}
		fx := take(s, 5)
		next := batch.Key{Job: "a", Attempt: 2}
		if len(fx.Plans) != 1 || fx.Plans[0].Kind != batch.CmdSubmit || fx.Plans[0].Key != next {
			t.Errorf("%v: plans %+v", from, fx.Plans)
		}
		if got := kinds(fx.Messages); from == Moving && (len(got) != 1 || got[0] != Drop) || from != Moving && got != nil {
			t.Errorf("%v: messages %v", from, got)
		}
		// News of the old one is old.
		_, err = s.Running(6, key, nil, nil)
		refused(t, err, problem.UnknownJob, "job_id")
		if _, err = s.Starting(6, next); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAttemptThatIsLaunchedHasItsPlaces(t *testing.T) {
	s, key := in(t, Waiting)
	places := []batch.NodeAllocation{{Node: 1, Processors: 2}}
	if _, err := s.Starting(1, key, places...); err != nil {
		t.Fatal(err)
	}
	places[0].Node = 9
	if w := take(s, 1).Writes[0].Record; w.State != "starting" || len(w.Run.Places) != 1 || w.Run.Places[0].Node != 1 {
		t.Errorf("%+v", w.Run)
	}
	// Its node was gone, and it is launched elsewhere.
	if _, err := s.Starting(2, key, batch.NodeAllocation{Node: 3, Processors: 2}); err != nil {
		t.Fatal(err)
	}
	if fx := take(s, 2); len(fx.Writes) != 1 || fx.Writes[0].Record.Run.Places[0].Node != 3 {
		t.Errorf("launched once more: %+v", fx.Writes)
	}
	if _, err := s.Starting(2, key, batch.NodeAllocation{Node: 3, Processors: 2}); err != nil || len(take(s, 2).Writes) != 0 {
		t.Errorf("told again what it knows, it writes: %v", err)
	}
	if j, err := s.Ended(2, key, neverRan, nil); err != nil || j.Run != nil {
		t.Errorf("the next attempt has its places: %+v %v", j.Run, err)
	}
}

func TestAnAttemptOfWhichNothingWasSentWaitsAgain(t *testing.T) {
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
	if len(fx.Writes) != 1 || fx.Writes[0].Record.State != "waiting" || fx.Writes[0].Record.Run != nil || len(fx.Plans) != 0 {
		t.Errorf("%+v", fx)
	}
	if j := wants(t, s, "a", Waiting); j.Attempt != 1 || j.busy || s.Load().Busy != 0 {
		t.Errorf("%+v, %+v", j, s.Load())
	}
	if _, err := s.Starting(2, key, places...); err != nil {
		t.Error(err)
	}
	// What runs, or is being cancelled, is not touched.
	_, _ = s.Running(3, key, nil, places)
	if err := s.Unlaunched(key); err != nil || job(t, s, "a").State != Running {
		t.Errorf("%v, %v", job(t, s, "a").State, err)
	}
	if err := s.Unlaunched(batch.Key{Job: "a", Attempt: 7}); err == nil {
		t.Error("another attempt is this one")
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

func TestALostEndIsFollowedByAnotherAttemptOnlyIfThatDoesNoHarm(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := named(t, "s")
		j := submit(t, s, 0, "a", &Request{Menu: menu(1, 1), Idempotent: again})
		_, _ = s.Running(1, j.Key(), nil, nil)
		got, err := s.Ended(2, j.Key(), lost, nil)
		want := map[bool]State{false: Failed, true: Waiting}[again]
		if err != nil || got.State != want || again != (got.Attempt == 2) || !again && got.Outcome().Reason != lost.Reason {
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
			t.Error("a job that is gone starts")
		}
	})
	t.Run("lost", func(t *testing.T) {
		s, key := in(t, Yielding)
		s.Claimed(2, key, false)
		fx := take(s, 2)
		same(t, "messages", fx.Messages, []Message{{Kind: Drop, From: "s", To: "t", Job: "a", Epoch: 1}})
		if j := wants(t, s, "a", Starting); !j.busy || j.MovedTo() != "" || len(fx.Commands) != 0 || j.Moves()[0].State != MoveAborted {
			t.Errorf("%+v, %+v", j, fx.Commands)
		}
		if j, err := s.Ended(3, key, batch.Outcome{End: batch.EndDone}, nil); err != nil || j.State != Done || j.Epoch != 1 {
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
			t.Error("it started, and is still in the round")
		}
	})
}
