package site

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// saving is a site with a job of 100 s that is agreed on and runs from the tenth on.
func saving(t *testing.T) (*Site, batch.Key) {
	t.Helper()
	s := named(t, "lyon")
	r := &Request{Menu: menu(2, 100), Deadline: sec(1000), Agreement: &Agreement{Checkpoint: true, Value: 1, Penalty: 1}}
	if _, err := s.Submit(sec(1), Submission{ID: numbered(1), Request: r}, windows{Profile: profile.New(0, 4)}); err != nil {
		t.Fatal(err)
	}
	key := take(s, sec(1)).Plans[0].Key
	begins(t, s, 10, key)
	return s, key
}

func begins(t *testing.T, s *Site, at int64, key batch.Key) {
	t.Helper()
	if _, err := s.Running(sec(at), key, []string{"n1"}, nil); err != nil {
		t.Fatal(err)
	}
}

// stops has the attempt end at a checkpoint and returns what follows.
func stops(t *testing.T, s *Site, at int64, key batch.Key) Effects {
	t.Helper()
	if _, err := s.Ended(sec(at), key, batch.Outcome{End: batch.EndStopped, ExitCode: 85}, nil); err != nil {
		t.Fatal(err)
	}
	return take(s, sec(at))
}

func TestAStoppedJobGoesOnWithWhatIsLeftOfItsWalltime(t *testing.T) {
	s, first := saving(t)
	fx := stops(t, s, 40, first)
	if len(fx.Plans) != 1 || len(fx.Commands) != 0 {
		t.Fatalf("%+v", fx)
	}
	plan := fx.Plans[0]
	if plan.Kind != batch.CmdSubmit || plan.After != first || plan.Key.Attempt != 2 || plan.Promise ||
		plan.Job.Shape != (batch.Shape{Width: 2, Walltime: 70 * batch.Second}) || plan.Job.Done != 30*batch.Second || !plan.Job.Agreed {
		t.Errorf("%+v, %+v", plan, plan.Job)
	}
	if _, err := s.Ended(sec(41), first, batch.Outcome{End: batch.EndStopped}, nil); err == nil {
		t.Error("it stops twice")
	}
	again := named(t, "lyon") // the server is killed here
	if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
		t.Fatal(err)
	}
	if err := again.Recover(sec(50), nil); err != nil {
		t.Fatal(err)
	}
	plan = take(again, sec(50)).Plans[0]
	if plan.Key.Attempt != 2 || plan.Job.Shape.Walltime != 70*batch.Second || plan.Job.Done != 30*batch.Second {
		t.Errorf("%+v, %+v", plan, plan.Job)
	}
	begins(t, again, 60, plan.Key)
	plan = stops(t, again, 70, plan.Key).Plans[0]
	begins(t, again, 100, plan.Key)
	if j, err := again.Ended(sec(150), plan.Key, batch.Outcome{End: batch.EndDone}, nil); err != nil || j.Agreement() != AgreedKept {
		t.Errorf("%+v, %v", j, err)
	}
	j := job(t, again, numbered(1))
	if diff := cmp.Diff(&Past{Stops: 2, Done: 40 * batch.Second, Started: sec(10), Stopped: sec(70)}, j.Past); diff != "" || j.Begun() != sec(10) {
		t.Error(diff)
	}
	var ran []string
	again.Ran(func(owner, service string, estimate, runtime batch.Duration) {
		ran = append(ran, fmt.Sprintf("%s %s %v of %v", owner, service, runtime, estimate))
	})
	if diff := cmp.Diff([]string{"  1m30s of 1m40s"}, ran); diff != "" {
		t.Error(diff)
	}
}

// present returns the attempt of the job, which waits for its place.
func present(t *testing.T, s *Site) batch.Key {
	t.Helper()
	j := wants(t, s, numbered(1), Waiting)
	return j.Key()
}

func TestALostAttemptGoesOnFromTheLastCheckpoint(t *testing.T) {
	s, first := saving(t)
	next := stops(t, s, 40, first).Plans[0].Key
	begins(t, s, 50, next)
	if _, err := s.Ended(sec(70), next, lost, nil); err != nil {
		t.Fatal(err)
	}
	fx := take(s, sec(70))
	if len(fx.Plans) != 1 || fx.Plans[0].Key.Attempt != 3 || fx.Plans[0].Job.Done != 30*batch.Second {
		t.Fatalf("%+v", fx)
	}
	// What was done since the checkpoint is lost, and does not count.
	if diff := cmp.Diff(&Past{Stops: 1, Done: 30 * batch.Second, Started: sec(10), Stopped: sec(40)}, job(t, s, numbered(1)).Past); diff != "" {
		t.Error(diff)
	}
	again := named(t, "lyon") // the server is killed here
	if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
		t.Fatal(err)
	}
	if err := again.Recover(sec(80), nil); err != nil {
		t.Fatal(err)
	}
	at := int64(100)
	for range DefaultAttempts - 2 { // the one that was lost has counted
		key := present(t, again)
		begins(t, again, at, key)
		if _, err := again.Ended(sec(at), key, lost, nil); err != nil {
			t.Fatal(err)
		}
	}
	key := present(t, again)
	begins(t, again, at, key)
	stops(t, again, at+10, key) // it gets on, and so they count from the beginning
	key = present(t, again)
	begins(t, again, at+20, key)
	if _, err := again.Ended(sec(at+20), key, lost, nil); err != nil {
		t.Fatal(err)
	}
	wants(t, again, numbered(1), Waiting)
}

func TestWhoPaysForAJobThatWasStopped(t *testing.T) {
	for name, c := range map[string]struct {
		end   batch.End
		ended int64
		want  AgreementState
	}{
		"done in time":                  {batch.EndDone, 80, AgreedKept},
		"it outran what was left":       {batch.EndKilled, 120, BrokenByUser},
		"it was shortened then":         {batch.EndKilled, 119, BrokenBySite},
		"failed by itself after a stop": {batch.EndFailed, 60, BrokenByUser},
	} {
		s, key := saving(t)
		next := stops(t, s, 40, key).Plans[0].Key
		begins(t, s, 50, next)
		if j, err := s.Ended(sec(c.ended), next, batch.Outcome{End: c.end}, nil); err != nil || j.Agreement() != c.want {
			t.Errorf("%s: %v, %v, want %v", name, j.Agreement(), err, c.want)
		}
	}
}

func TestWhatIsNotContinuedIsTakenOutOfTheBatchSystem(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		s, key := saving(t)
		if _, err := s.Cancel(sec(20), numbered(1)); err != nil {
			t.Fatal(err)
		}
		take(s, sec(20))
		fx := stops(t, s, 40, key)
		if j := job(t, s, numbered(1)); j.State != Cancelled || j.Agreement() != AgreedVoid || j.Outcome().End != batch.EndCancelled {
			t.Errorf("%+v", j)
		}
		over(t, fx, key)
	})
	t.Run("walltime used up", func(t *testing.T) {
		s, key := saving(t)
		key = stops(t, s, 40, key).Plans[0].Key
		begins(t, s, 50, key)
		fx := stops(t, s, 120, key)
		if j := job(t, s, numbered(1)); j.State != Killed || j.Agreement() != BrokenByUser {
			t.Errorf("%+v", j)
		}
		over(t, fx, key)
	})
	t.Run("again and again", func(t *testing.T) {
		s, key := saving(t)
		for range mostStops {
			key = stops(t, s, 10, key).Plans[0].Key
			begins(t, s, 10, key)
		}
		fx := stops(t, s, 10, key)
		if j := job(t, s, numbered(1)); j.State != Failed || j.Outcome().Reason != "it has stopped at a checkpoint 101 times" {
			t.Errorf("%+v", j)
		}
		over(t, fx, key)
	})
}

// over wants that the batch system was told that nothing follows.
func over(t *testing.T, fx Effects, key batch.Key) {
	t.Helper()
	if len(fx.Plans) != 0 || len(fx.Commands) != 1 || fx.Commands[0].Kind != batch.CmdCancel || fx.Commands[0].Key != key {
		t.Errorf("%+v", fx)
	}
}
