package site

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// saving returns a site with an agreed job of 100 s, which runs since second 10.
func saving(t *testing.T) (*Site, batch.Key) {
	t.Helper()
	s := named(t, "lyon")
	r := &Request{Menu: menu(2, 100), Deadline: sec(1000), Agreement: &Agreement{
		Checkpoint: true, Value: 1, Penalty: 1,
	}}
	if _, err := s.Submit(sec(1), Submission{ID: numbered(1), Request: r},
		windows{Profile: profile.New(0, 4)}); err != nil {
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

// stops ends the attempt at a checkpoint and returns the effects.
func stops(t *testing.T, s *Site, at int64, key batch.Key) Effects {
	t.Helper()
	if _, err := s.Ended(sec(at), key, batch.Outcome{End: batch.EndStopped, ExitCode: 85}, nil); err != nil {
		t.Fatal(err)
	}
	return take(s, sec(at))
}

func TestStoppedJobContinuesWithTheRestOfItsWalltime(t *testing.T) {
	s, first := saving(t)
	fx := stops(t, s, 40, first)
	if len(fx.Plans) != 1 || len(fx.Commands) != 0 {
		t.Fatalf("%+v", fx)
	}
	plan := fx.Plans[0]
	if plan.Kind != batch.CmdSubmit || plan.After != first || plan.Key.Attempt != 2 || plan.Promise ||
		plan.Job.Shape != (batch.Shape{Width: 2, Walltime: 70 * batch.Second}) || plan.Job.Done != 30*batch.Second ||
		!plan.Job.Agreed {
		t.Errorf("%+v, %+v", plan, plan.Job)
	}
	if _, err := s.Ended(sec(41), first, batch.Outcome{End: batch.EndStopped}, nil); err == nil {
		t.Error("a stopped attempt stops again")
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
	if j, err := again.Ended(sec(150), plan.Key, batch.Outcome{End: batch.EndDone}, nil); err != nil ||
		j.Agreement() != AgreedKept {
		t.Errorf("%+v, %v", j, err)
	}
	j := job(t, again, numbered(1))
	if diff := cmp.Diff(&Past{Stops: 2, Done: 40 * batch.Second, Started: sec(10), Stopped: sec(70)},
		j.Past); diff != "" || j.Begun() != sec(10) {
		t.Error(diff)
	}
	var ran []string
	again.Runtimes(func(owner, service string, estimate, runtime batch.Duration) {
		ran = append(ran, fmt.Sprintf("%s %s %v of %v", owner, service, runtime, estimate))
	})
	if diff := cmp.Diff([]string{"  1m30s of 1m40s"}, ran); diff != "" {
		t.Error(diff)
	}
}

// present returns the key of the job's waiting attempt.
func present(t *testing.T, s *Site) batch.Key {
	t.Helper()
	j := wants(t, s, numbered(1), Waiting)
	return j.Key()
}

func TestLostAttemptContinuesFromTheLastCheckpoint(t *testing.T) {
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
	// Work since the checkpoint is lost and does not count as done.
	if diff := cmp.Diff(&Past{Stops: 1, Done: 30 * batch.Second, Started: sec(10), Stopped: sec(40)},
		job(t, s, numbered(1)).Past); diff != "" {
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
	for range DefaultAttempts - 2 { // the lost attempt counts
		key := present(t, again)
		begins(t, again, at, key)
		if _, err := again.Ended(sec(at), key, lost, nil); err != nil {
			t.Fatal(err)
		}
	}
	key := present(t, again)
	begins(t, again, at, key)
	stops(t, again, at+10, key) // a new checkpoint resets the count
	key = present(t, again)
	begins(t, again, at+20, key)
	if _, err := again.Ended(sec(at+20), key, lost, nil); err != nil {
		t.Fatal(err)
	}
	wants(t, again, numbered(1), Waiting)
}

func TestAgreementOfAStoppedJob(t *testing.T) {
	for name, c := range map[string]struct {
		end   batch.End
		ended int64
		want  AgreementState
	}{
		"done in time":               {batch.EndDone, 80, AgreedKept},
		"killed at its walltime":     {batch.EndKilled, 120, BrokenByUser},
		"killed before its walltime": {batch.EndKilled, 119, BrokenBySite},
		"failed after a stop":        {batch.EndFailed, 60, BrokenByUser},
	} {
		s, key := saving(t)
		next := stops(t, s, 40, key).Plans[0].Key
		begins(t, s, 50, next)
		if j, err := s.Ended(sec(c.ended), next, batch.Outcome{End: c.end}, nil); err != nil ||
			j.Agreement() != c.want {
			t.Errorf("%s: %v, %v, want %v", name, j.Agreement(), err, c.want)
		}
	}
}

func TestStoppedJobThatDoesNotContinueLeavesTheBatchSystem(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		s, key := saving(t)
		if _, err := s.Cancel(sec(20), numbered(1)); err != nil {
			t.Fatal(err)
		}
		take(s, sec(20))
		fx := stops(t, s, 40, key)
		if j := job(t, s, numbered(1)); j.State != Cancelled || j.Agreement() != AgreedVoid ||
			j.Outcome().End != batch.EndCancelled {
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
		for range maxStops {
			key = stops(t, s, 10, key).Plans[0].Key
			begins(t, s, 10, key)
		}
		fx := stops(t, s, 10, key)
		if j := job(t, s, numbered(1)); j.State != Failed ||
			j.Outcome().Reason != "it has stopped at a checkpoint 101 times" {
			t.Errorf("%+v", j)
		}
		over(t, fx, key)
	})
}

// over requires the one command that tells the batch system that no attempt follows.
func over(t *testing.T, fx Effects, key batch.Key) {
	t.Helper()
	if len(fx.Plans) != 0 || len(fx.Commands) != 1 || fx.Commands[0].Kind != batch.CmdCancel ||
		fx.Commands[0].Key != key {
		t.Errorf("%+v", fx)
	}
}

func TestWhichEndsAreFollowedByAnotherTry(t *testing.T) {
	failed := func(code int) batch.Outcome { return batch.Outcome{End: batch.EndFailed, ExitCode: code} }
	for _, tt := range []struct {
		name    string
		on      []int32
		outcome batch.Outcome
		again   bool
	}{
		{"any exit code", nil, failed(3), true},
		{"one that is named", []int32{1, 75}, failed(75), true},
		{"one that is not", []int32{1, 75}, failed(74), false},
		{"any signal", nil, batch.Outcome{End: batch.EndFailed, Signal: "SIGSEGV"}, true},
		{"a signal by its shell's code", []int32{139}, batch.Outcome{End: batch.EndFailed, Signal: "SIGSEGV"}, true},
		{"another signal", []int32{139}, batch.Outcome{End: batch.EndFailed, Signal: "SIGKILL"}, false},
		{"done", nil, batch.Outcome{End: batch.EndDone}, false},
		{"its walltime", nil, batch.Outcome{End: batch.EndKilled, ExitCode: 3}, false},
		{"a cancel", nil, batch.Outcome{End: batch.EndCancelled}, false},
		{"it could not be started", nil, batch.Outcome{End: batch.EndStartFailed}, false},
		{"it was lost", nil, batch.Outcome{End: batch.EndLost}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := named(t, "s")
			submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 2, RetryOn: tt.on})
			done(t, s, sec(1), "a", tt.outcome)
			j := job(t, s, "a")
			if again := j.State == Waiting && j.Attempt == 2 && j.Retried == 1; again != tt.again {
				t.Errorf("%v, attempt %d, retried %d", j.State, j.Attempt, j.Retried)
			}
		})
	}
}

func TestFailedJobIsRetriedAtTheEndOfTheQueue(t *testing.T) {
	disk := make(map[batch.JobID]Record)
	s := named(t, "s")
	submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 12})
	for i := range 12 { // more than Config.Attempts, which limits only attempts that never ran
		queue(t, s, batch.JobID(rune('b'+i)))
		take(s, 0)
		last := job(t, s, "a")
		key := last.Key()
		done(t, s, sec(int64(i)), "a", batch.Outcome{End: batch.EndFailed, ExitCode: 1})
		fx := take(s, 0)
		if len(fx.Plans) != 1 || fx.Plans[0].Kind != batch.CmdSubmit || fx.Plans[0].Key.Attempt != uint32(i+2) {
			t.Fatalf("plans %v", fx.Plans)
		}
		for _, w := range fx.Writes {
			disk[w.Record.ID] = w.Record
		}
		if _, err := s.Ended(sec(99), key, batch.Outcome{End: batch.EndFailed, ExitCode: 1}, nil); err == nil {
			t.Error("the same end is accepted twice")
		}
	}
	j := job(t, s, "a")
	if j.Retried != 12 || j.Started != batch.Never || j.Run != nil {
		t.Errorf("%+v", j)
	}
	s = restarted(t, s, 0, disk)
	if j = wants(t, s, "a", Waiting); j.Retried != 12 || j.Attempt != 13 || j.Order <= 12 {
		t.Errorf("after a restart: %+v", j)
	}
	if _, err := s.Ended(sec(20), j.Key(), batch.Outcome{End: batch.EndNeverRan}, nil); err != nil {
		t.Fatal(err)
	}
	wants(t, s, "a", Waiting) // that one did not count
	done(t, s, sec(21), "a", batch.Outcome{End: batch.EndFailed, ExitCode: 1})
	wants(t, s, "a", Failed)
}

func TestRetryStartsFromTheBeginningAndCanBeCancelled(t *testing.T) {
	s := named(t, "s")
	submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 5})
	first := job(t, s, "a")
	key := first.Key()
	_, _ = s.Running(0, key, nil, nil)
	if _, err := s.Ended(sec(4), key, batch.Outcome{End: batch.EndStopped}, nil); err != nil {
		t.Fatal(err)
	}
	done(t, s, sec(5), "a", batch.Outcome{End: batch.EndFailed, ExitCode: 1})
	j := wants(t, s, "a", Waiting)
	if j.Past != nil || j.Spec().Shape.Walltime != 10*batch.Second {
		t.Errorf("past %v, walltime %v", j.Past, j.Spec().Shape.Walltime)
	}
	_, _ = s.Running(sec(6), j.Key(), nil, nil)
	if _, err := s.Cancel(sec(6), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ended(sec(7), j.Key(), batch.Outcome{End: batch.EndFailed, ExitCode: 1}, nil); err != nil {
		t.Fatal(err)
	}
	wants(t, s, "a", Failed) // failed before the cancel arrived, and is not retried
}

func TestRetriesTravelWithAJob(t *testing.T) {
	s, target := named(t, "s"), named(t, "t")
	submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 1})
	done(t, s, 0, "a", batch.Outcome{End: batch.EndFailed, ExitCode: 1})
	take(s, 0)
	if _, err := s.Move(0, MoveRequest{Job: "a", To: "t", MinGain: AnyGain}, idle("a", sec(9))); err != nil {
		t.Fatal(err)
	}
	m := take(s, 0).Messages[0]
	m.Parcel.Dossier = &Dossier{Request: Request{Menu: menu(2, 10), Retries: 1}}
	if answer, _ := target.Receive(0, &m, idle("a", 0)); answer.Kind != Reserved {
		t.Fatalf("%+v", answer)
	}
	target.Receive(0, &Message{Kind: Confirm, From: "s", To: "t", Job: "a", Epoch: 1}, idle("a", 0))
	done(t, target, sec(1), "a", batch.Outcome{End: batch.EndFailed, ExitCode: 1})
	if j := wants(t, target, "a", Failed); j.Retried != 1 {
		t.Errorf("retried %d", j.Retried)
	}
}

func TestJobThatFailsWhileYieldingIsRetriedHere(t *testing.T) {
	s := named(t, "s")
	submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 1})
	first := job(t, s, "a")
	key := first.Key()
	take(s, 0)
	if _, err := s.Move(0, MoveRequest{Job: "a", To: "t", MinGain: AnyGain}, idle("a", sec(9))); err != nil {
		t.Fatal(err)
	}
	take(s, 0)
	s.Receive(0, &Message{Kind: Reserved, From: "t", To: "s", Job: "a", Epoch: 1}, idle("a", sec(9)))
	wants(t, s, "a", Yielding)
	take(s, 0)
	if _, err := s.Ended(sec(1), key, batch.Outcome{End: batch.EndFailed, ExitCode: 1}, nil); err != nil {
		t.Fatal(err)
	}
	j := wants(t, s, "a", Waiting)
	fx := take(s, sec(1))
	if same(t, "plans", planned(fx.Plans), "submit a "); j.Retried != 1 || len(fx.Messages) != 1 ||
		fx.Messages[0].Kind != Drop {
		t.Errorf("retried %d, messages %+v", j.Retried, fx.Messages)
	}
	s.Claimed(sec(2), key, false) // the late answer about the previous attempt
	wants(t, s, "a", Waiting)
}

func TestJobOfAFinishedReservationIsNotRetried(t *testing.T) {
	for now, want := range map[batch.Time]State{sec(60): Waiting, sec(151): Failed} {
		s := named(t, "lyon")
		p := windows{Profile: profile.New(0, 4), inside: sec(60)}
		if _, err := s.Book(sec(1), Booking{ID: numbered(1), Width: 4, Duration: 100 * batch.Second, From: sec(50)},
			p); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Submit(sec(2), Submission{ID: "a", Request: &Request{
			Menu: menu(2, 10), Into: numbered(1), Retries: 3,
		}}, p); err != nil {
			t.Fatal(err)
		}
		done(t, s, now, "a", batch.Outcome{End: batch.EndFailed, ExitCode: 7})
		if j := wants(t, s, "a", want); want == Failed && j.Outcome().ExitCode != 7 {
			t.Errorf("%+v", j.Outcome())
		}
	}
}

func TestAttemptThatStartsTooLateBreaksTheAgreementBySite(t *testing.T) {
	for started, want := range map[batch.Time]AgreementState{sec(5): BrokenByUser, sec(95): BrokenBySite} {
		s := named(t, "s")
		j := &Job{
			ID: "a", State: Running, Shape: batch.Shape{Width: 1, Walltime: 10 * batch.Second}, Started: started,
			Kept: true, Attempt: 1,
			Needs: &Needs{Deadline: sec(100), Agreed: &Agreement{}, Retries: &Retries{Most: 1}}, agreement: AgreedOpen,
		}
		s.book.add(j)
		if _, err := s.Ended(started.Add(batch.Second), j.Key(), batch.Outcome{End: batch.EndFailed, ExitCode: 1},
			nil); err != nil {
			t.Fatal(err)
		}
		wants(t, s, "a", Waiting)
		if _, err := s.Ended(sec(99), j.Key(), batch.Outcome{End: batch.EndStartFailed}, nil); err != nil {
			t.Fatal(err)
		}
		if wants(t, s, "a", Failed); j.Agreement() != want {
			t.Errorf("started at %v: %v", started, j.Agreement())
		}
	}
}

func TestRetriesOfARequestAreValidated(t *testing.T) {
	for _, tt := range []struct {
		retries int32
		on      []int32
		field   string
	}{
		{0, []int32{1}, "request.retry_on"},
		{1, slices.Repeat([]int32{1}, 256), "request.retry_on"},
		{1, []int32{1, 0}, "request.retry_on[1]"},
		{1, []int32{256}, "request.retry_on[0]"},
	} {
		err := (&Request{Service: "s", Retries: tt.retries, RetryOn: tt.on}).Validate()
		if r, is := errors.AsType[*problem.Problem](err); !is || r.Field != tt.field {
			t.Errorf("retries %d on %v: %v", tt.retries, tt.on, err)
		}
	}
	if err := (&Request{Service: "s", Retries: 100, RetryOn: []int32{1, 255}}).Validate(); err != nil {
		t.Error(err)
	}
}
