package site

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

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

func TestAJobIsTriedAgainAsOftenAsItsRequestSaysAndAsTheLastOne(t *testing.T) {
	disk := make(map[batch.JobID]Record)
	s := named(t, "s")
	submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 12})
	for i := range 12 { // more than Config.Attempts, which bounds what never ran
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
			t.Error("the same end is taken twice")
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

func TestARetryBeginsAnewAndACancelEndsIt(t *testing.T) {
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
	wants(t, s, "a", Failed) // by itself, before the cancel came; and not again
}

func TestRetriesTravelWithAJob(t *testing.T) {
	s, target := named(t, "s"), named(t, "t")
	submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 1})
	done(t, s, 0, "a", batch.Outcome{End: batch.EndFailed, ExitCode: 1})
	take(s, 0)
	if _, err := s.Move(0, Order{Job: "a", To: "t", MinGain: AnyPrice}, idle("a", sec(9))); err != nil {
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

func TestAJobThatFailsWhileItIsHandedOverIsTriedAgainHere(t *testing.T) {
	s := named(t, "s")
	submit(t, s, 0, "a", &Request{Menu: menu(2, 10), Retries: 1})
	first := job(t, s, "a")
	key := first.Key()
	take(s, 0)
	if _, err := s.Move(0, Order{Job: "a", To: "t", MinGain: AnyPrice}, idle("a", sec(9))); err != nil {
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
	if same(t, "plans", planned(fx.Plans), "submit a "); j.Retried != 1 || len(fx.Messages) != 1 || fx.Messages[0].Kind != Drop {
		t.Errorf("retried %d, messages %+v", j.Retried, fx.Messages)
	}
	s.Claimed(sec(2), key, false) // the answer about the attempt before
	wants(t, s, "a", Waiting)
}

func TestAJobWhoseReservationIsOverIsNotTriedAgain(t *testing.T) {
	for now, want := range map[batch.Time]State{sec(60): Waiting, sec(151): Failed} {
		s := named(t, "lyon")
		p := windows{Profile: profile.New(0, 4), inside: sec(60)}
		if _, err := s.Book(sec(1), Booking{ID: numbered(1), Width: 4, Duration: 100 * batch.Second, From: sec(50)}, p); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Submit(sec(2), Submission{ID: "a", Request: &Request{Menu: menu(2, 10), Into: numbered(1), Retries: 3}}, p); err != nil {
			t.Fatal(err)
		}
		done(t, s, now, "a", batch.Outcome{End: batch.EndFailed, ExitCode: 7})
		if j := wants(t, s, "a", want); want == Failed && j.Outcome().ExitCode != 7 {
			t.Errorf("%+v", j.Outcome())
		}
	}
}

func TestATryThatTheSiteStartedTooLateForItsAgreementIsTheSitesFault(t *testing.T) {
	for started, want := range map[batch.Time]AgreementState{sec(5): BrokenByUser, sec(95): BrokenBySite} {
		s := named(t, "s")
		j := &Job{
			ID: "a", State: Running, Shape: batch.Shape{Width: 1, Walltime: 10 * batch.Second}, Started: started, Kept: true, Attempt: 1,
			Needs: &Needs{Deadline: sec(100), Agreed: &Agreement{}, Retries: &Retries{Most: 1}}, agreement: AgreedOpen,
		}
		s.book.add(j)
		if _, err := s.Ended(started.Add(batch.Second), j.Key(), batch.Outcome{End: batch.EndFailed, ExitCode: 1}, nil); err != nil {
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

func TestTheFormOfRetriesIsChecked(t *testing.T) {
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
