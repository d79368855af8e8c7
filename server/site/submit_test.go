package site

import (
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

func TestSubmitTunesAndTellsTheBatchSystem(t *testing.T) {
	s := newSite(t, sevenMinutes, 5, Exhaustive)
	r := &Request{Service: "seven", Owner: "ada", Memory: 7, CPU: batch.One / 2, InputSite: "b", Input: 9}
	j, err := s.Submit(0, Submission{ID: "a", Request: r, Decision: []byte("why")}, figure2())
	if err != nil {
		t.Fatal(err)
	}
	want := batch.Job{
		Shape: batch.Shape{Width: 4, Walltime: seconds(105)}, Owner: "ada", Name: "seven", Memory: 7,
		CPU: batch.One / 2, Site: "b", Input: 9,
	}
	fx := take(s, 0)
	same(t, "plans", fx.Plans, []batch.Command{{
		Kind: batch.CmdSubmit, Key: batch.Key{Job: "a", Attempt: 1}, Job: &want,
	}})
	if len(fx.Commands)+len(fx.Claims)+len(fx.Messages)+len(fx.Discard) != 0 {
		t.Errorf("effects: %+v", fx)
	}
	if len(fx.Writes) != 1 || fx.Writes[0].Record.State != "waiting" ||
		string(fx.Writes[0].Dossier.Decision) != "why" || fx.Writes[0].Until != 0 {
		t.Errorf("writes: %+v", fx.Writes)
	}
	if j.State != Waiting || j.Estimate.Completion != seconds(105) || !j.Kept || j.Started != batch.Never ||
		j.Ended != batch.Never || j.Revision != 1 {
		t.Errorf("job: %+v", j)
	}
}

func TestRepeatedSubmissionReturnsTheSameJob(t *testing.T) {
	s := newSite(t, services, 8, Exhaustive)
	request := func() *Request {
		return &Request{
			Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(3)},
			Labels:   map[string]string{"a": "b"},
			Licenses: []batch.License{{Name: "x", Copies: 1}}, Deadline: 1 << 50,
		}
	}
	first := submit(t, s, 0, "a", request())
	take(s, 0)
	again, err := s.Submit(99, Submission{ID: "a", Request: request()}, &rectangles{silent: true})
	if fx := take(s, 99); err != nil || !fx.Empty() {
		t.Fatalf("again: %+v, %v", fx, err)
	}
	if again.Revision != first.Revision || again.Needs != first.Needs || again.Estimate != first.Estimate ||
		again.Submitted != 0 {
		t.Errorf("again: %+v", again)
	}
	if _, err := s.Running(5, first.Key(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if again, err = s.Submit(99, Submission{ID: "a", Request: request()}, nil); err != nil || again.State != Running {
		t.Errorf("a repeated submission returns state %v, %v", again.State, err)
	}
	for name, change := range map[string]func(*Request){
		"service":    func(r *Request) { r.Service = "rigid" },
		"argument":   func(r *Request) { r.Arguments["n"] = catalogue.Int(4) },
		"width":      func(r *Request) { r.Width = 1 },
		"walltime":   func(r *Request) { r.Walltime = batch.Hour },
		"menu":       func(r *Request) { r.Menu = menu(1, 1) },
		"owner":      func(r *Request) { r.Owner = "eve" },
		"origin":     func(r *Request) { r.Origin = batch.Local },
		"deadline":   func(r *Request) { r.Deadline++ },
		"earliest":   func(r *Request) { r.EarliestStart = 1 },
		"memory":     func(r *Request) { r.Memory = 1 },
		"cpu":        func(r *Request) { r.CPU = 1 },
		"licenses":   func(r *Request) { r.Licenses[0].Copies = 2 },
		"input":      func(r *Request) { r.Input = 1 },
		"input site": func(r *Request) { r.InputSite = "x" },
		"idempotent": func(r *Request) { r.Idempotent = true },
		"retry of":   func(r *Request) { r.RetryOf = "b" },
		"labels":     func(r *Request) { r.Labels["a"] = "c" },
	} {
		r := request()
		change(r)
		t.Run("another "+name, func(t *testing.T) {
			_, err := s.Submit(99, Submission{ID: "a", Request: r}, nil)
			refused(t, err, problem.JobConflict, "job_id")
		})
	}
}

func TestARefusedSubmissionLeavesNothingBehind(t *testing.T) {
	s := newSite(t, services, 4, Exhaustive)
	if _, err := s.Submit(0, Submission{ID: "a", Request: &Request{Service: "rigid"}}, instant{}); err == nil {
		t.Fatal("accepted")
	}
	if _, err := s.Job("a"); err == nil {
		t.Error("the refused job is known")
	}
	if fx := take(s, 0); !fx.Empty() {
		t.Errorf("effects: %+v", fx)
	}
	submit(t, s, 0, "a", &Request{Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(3)}})
}

func TestAWithdrawnJobIsNeverAccepted(t *testing.T) {
	s := named(t, "s")
	for i := range 2 { // the answer can be lost
		if withdrawn, j := s.Withdraw(batch.Time(i), "a"); !withdrawn || !j.Withdrawn || j.State != Absent ||
			j.Revision != 1 {
			t.Fatalf("withdrawn: %v, %+v", withdrawn, j)
		}
	}
	_, err := s.Submit(2, Submission{ID: "a", Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Withdrawn, "job_id")
	fx := take(s, 3)
	if len(fx.Writes) != 1 || !fx.Writes[0].Record.Withdrawn || fx.Writes[0].Until != batch.Time(3).Add(Horizon) ||
		fx.Writes[0].Dossier != nil || s.Knows("a") {
		t.Fatalf("%+v", fx)
	}
	// The same holds for a tombstone from the disk.
	if err := s.Recall(&fx.Writes[0].Record); err != nil {
		t.Fatal(err)
	}
	_, err = s.Submit(4, Submission{ID: "a", Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Withdrawn, "job_id")
	if fx := take(s, 4); !fx.Empty() || s.Knows("a") {
		t.Errorf("a refused submission changed the tombstone: %+v", fx)
	}
}

func TestAnAcceptedJobIsNotWithdrawn(t *testing.T) {
	for state := Waiting; state <= Gone; state++ {
		s, _ := in(t, state)
		if withdrawn, j := s.Withdraw(5, "a"); withdrawn || j.State != state {
			t.Errorf("%v: withdrawn: %v, %+v", state, withdrawn, j)
		}
		if fx := take(s, 5); !fx.Empty() {
			t.Errorf("%v: %+v", state, fx)
		}
	}
}

func TestAWithdrawnJobMayComeByAMove(t *testing.T) {
	s := named(t, "s")
	s.Withdraw(0, "a")
	s.Receive(1, reservation("t", "s", "a", 1), idle("a", 9))
	if j := wants(t, s, "a", Incoming); !j.Withdrawn {
		t.Error("the job is no longer withdrawn")
	}
	if withdrawn, j := s.Withdraw(2, "a"); !withdrawn || j.State != Incoming {
		t.Error("a repeated Withdraw gets another answer")
	}
	s.Receive(3, &Message{Kind: Drop, From: "t", Job: "a", Epoch: 1}, nil)
	_, err := s.Submit(4, Submission{ID: "a", Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Withdrawn, "job_id")
}

func TestDrainingSiteRefusesNewJobsOnly(t *testing.T) {
	s := named(t, "s")
	queue(t, s, "a")
	s.SetDraining(true)
	queue(t, s, "a") // again
	_, err := s.Submit(1, Submission{ID: "b", Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Draining, "")
	_, err = s.Quote(1, Question{Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Draining, "")
	answers := make([]Answer, 1)
	s.Quotes(1, []Question{{Request: &Request{Menu: menu(1, 1)}}}, answers, instant{})
	refused(t, answers[0].Err, problem.Draining, "")
	if answer, _ := s.Receive(1, reservation("t", "s", "b", 1), idle("b", 9)); answer.Kind != Refused ||
		answer.Why == "" {
		t.Errorf("a reservation: %+v", answer)
	}
	if s.Knows("b") || !s.Draining() {
		t.Error("the draining site accepted a job")
	}
	s.SetDraining(false)
	queue(t, s, "b")
}

// TestAForgottenJobDoesNotComeBack: a repeated submission, with the same or another request, does
// not create the job again.
func TestAForgottenJobDoesNotComeBack(t *testing.T) {
	s, _ := in(t, Done)
	if err := s.Forget("a"); err != nil {
		t.Fatal(err)
	}
	fx := take(s, 1)
	same(t, "discard", fx.Discard, []batch.JobID{"a"})
	if err := s.Recall(&fx.Writes[0].Record); err != nil {
		t.Fatal(err)
	}
	if j := submit(t, s, 2, "a", &Request{Menu: menu(2, 10)}); j.State != Done || j.Kept {
		t.Errorf("%+v", j)
	}
	_, err := s.Submit(2, Submission{ID: "a", Request: &Request{Menu: menu(2, 11)}}, instant{})
	refused(t, err, problem.JobConflict, "job_id")
	if fx := take(s, 2); !fx.Empty() {
		t.Errorf("%+v", fx)
	}
}

func TestRestartableComesFromTheRequestOrItsService(t *testing.T) {
	const two = `
version: 1
services:
  - {name: once, doc: x, command: [x], model: {fixed: {width: 1, time: 1s}}}
  - {name: again, doc: x, command: [x], restartable: true, model: {fixed: {width: 1, time: 1s}}}
`
	s := newSite(t, two, 4, Exhaustive)
	for i, tt := range []struct {
		r    Request
		want bool
	}{
		{Request{Service: "once"}, false},
		{Request{Service: "once", Idempotent: true}, true},
		{Request{Service: "again"}, true},
	} {
		if j := submit(t, s, 0, batch.JobID(rune('a'+i)), &tt.r); j.Needs.Restartable != tt.want {
			t.Errorf("%+v: %v", tt.r, j.Needs.Restartable)
		}
	}
}

func TestFingerprintCoversEveryShape(t *testing.T) {
	menus := [][]batch.Shape{
		nil,
		{{Width: 1, Walltime: 10}},
		{{Width: 1, Walltime: 10}, {Width: 2, Walltime: 5}},
		{{Width: 1, Walltime: 10}, {Width: 2, Walltime: 6}},
		{{Width: 1, Walltime: 10}, {Width: 3, Walltime: 5}},
		{{Width: 1, Walltime: 10 + 1<<32}, {Width: 2, Walltime: 5}},
	}
	seen := map[fingerprint]int{}
	for i, m := range menus {
		print := (&Request{Service: "lu", Menu: m}).fingerprint()
		if k, twice := seen[print]; twice {
			t.Errorf("menus %v and %v have one fingerprint", menus[k], m)
		}
		seen[print] = i
		if again := (&Request{Service: "lu", Menu: slices.Clone(m)}).fingerprint(); again != print {
			t.Errorf("menu %v has two fingerprints", m)
		}
	}
}

func TestLaunchedJobIsCancelledByTheBatchSystem(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  bool // it runs at the time of the cancel
		end  batch.End
		want State
	}{
		{"a starting job", false, batch.EndCancelled, Cancelled},
		{"a starting job that never ran", false, batch.EndNeverRan, Cancelled},
		{"a running job", true, batch.EndCancelled, Cancelled},
		{"a job that ended by itself first", true, batch.EndDone, Done},
		{"an unobserved end", true, batch.EndLost, Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := named(t, "s")
			j := submit(t, s, 0, "a", &Request{Menu: menu(3, 10), Idempotent: true})
			key := j.Key()
			_, _ = s.Starting(1, key)
			if tt.run {
				_, _ = s.Running(1, key, nil, nil)
			}
			changes := job(t, s, "a").Revision
			take(s, 1)
			for range 2 { // a client repeats the call until it gets an answer
				got, err := s.Cancel(1, "a")
				if err != nil || got.State != Cancelling || !got.Cancel || got.Revision != changes+1 {
					t.Fatalf("%+v %v", got, err)
				}
				fx := take(s, 1)
				same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
				if len(fx.Claims) != 0 {
					t.Error("a launched attempt is claimed")
				}
			}
			if got, err := s.Ended(3, key, batch.Outcome{End: tt.end}, nil); err != nil || got.State != tt.want ||
				got.Cancel {
				t.Errorf("%+v %v", got, err)
			}
			take(s, 3)
			if got, err := s.Cancel(4, "a"); err != nil || got.State != tt.want {
				t.Errorf("after the end: %v %v", got.State, err)
			}
			if fx := take(s, 4); !fx.Empty() {
				t.Errorf("after the end: %+v", fx)
			}
			if l := s.Load(); l != (Load{Ended: 1, Processors: 4}) {
				t.Errorf("load %+v", l)
			}
		})
	}
}

// TestWaitingJobIsCancelledByAClaim: only one side wins the claim, so the claim decides whether the
// job has started.
func TestWaitingJobIsCancelledByAClaim(t *testing.T) {
	for _, from := range []State{Waiting, Held, Moving} {
		for _, won := range []bool{true, false} {
			t.Run(from.String(), func(t *testing.T) {
				s, key := in(t, from)
				for range 2 {
					if j, err := s.Cancel(2, "a"); err != nil || j.State != Cancelling || !j.Cancel {
						t.Fatalf("%+v %v", j, err)
					}
				}
				fx := take(s, 2)
				same(t, "claims", fx.Claims, []batch.Key{key})
				if len(fx.Commands) != 0 {
					t.Errorf("commands before the claim: %+v", fx.Commands)
				}
				if drops := len(fx.Messages); (from == Moving) != (drops == 1) {
					t.Errorf("messages: %+v", fx.Messages)
				}
				if s.Wake() != batch.Never {
					t.Error("a timer is still set")
				}
				if _, err := s.Starting(2, key); err == nil {
					t.Error("the job starts while its claim is pending")
				}
				if _, err := s.Ended(2, key, batch.Outcome{End: batch.EndNeverRan}, nil); err != nil {
					t.Error(err)
				}
				wants(t, s, "a", Cancelling)
				s.Claimed(3, key, won)
				same(t, "commands", take(s, 3).Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
				if won {
					j := wants(t, s, "a", Cancelled)
					if j.Cancel || j.Ended != 3 || j.Outcome().End != batch.EndCancelled ||
						s.Load() != (Load{Ended: 1, Processors: 4}) {
						t.Errorf("%+v, %+v", j, s.Load())
					}
				} else if j := wants(t, s, "a", Cancelling); !j.busy || s.Load().Busy != 2 {
					t.Errorf("%+v, %+v", j, s.Load())
				}
				before := job(t, s, "a")
				s.Claimed(4, key, true) // a repeated answer
				if job(t, s, "a") != before {
					t.Error("a repeated answer to a claim changes the job")
				}
			})
		}
	}
}

// TestCancelSurvivesAnEarlierEventOfTheBatchSystem: a batch system that starts jobs itself can
// report a running job before its claim is answered.
func TestCancelSurvivesAnEarlierEventOfTheBatchSystem(t *testing.T) {
	for _, from := range []State{Waiting, Yielding} {
		s, key := in(t, from)
		_, _ = s.Cancel(2, "a")
		if j, err := s.Running(3, key, []string{"n"}, nil); err != nil || j.State != Cancelling || j.Started != 3 ||
			s.Load().Busy != 2 {
			t.Errorf("%v: %+v %v", from, j, err)
		}
		s.Claimed(4, key, false)
		if fx := take(s, 4); len(fx.Commands) == 0 ||
			fx.Commands[0] != (batch.Command{Kind: batch.CmdCancel, Key: key}) {
			t.Errorf("%v: commands %+v", from, fx.Commands)
		}
		wants(t, s, "a", Cancelling)
	}
}

func TestCancelOfAYieldingJobIsRecorded(t *testing.T) {
	t.Run("claim won", func(t *testing.T) {
		s, key := in(t, Yielding)
		if j, err := s.Cancel(2, "a"); err != nil || j.State != Yielding || !j.Cancel {
			t.Fatalf("%+v %v", j, err)
		}
		s.Claimed(3, key, true)
		fx := take(s, 3)
		same(t, "messages", kinds(fx.Messages), []MessageKind{Drop})
		wants(t, s, "a", Cancelled)
	})
	t.Run("claim lost", func(t *testing.T) {
		s, key := in(t, Yielding)
		_, _ = s.Cancel(2, "a")
		s.Claimed(3, key, false)
		fx := take(s, 3)
		same(t, "messages", kinds(fx.Messages), []MessageKind{Drop})
		same(t, "commands", fx.Commands, []batch.Command{{Kind: batch.CmdCancel, Key: key}})
		if j := wants(t, s, "a", Cancelling); !j.busy {
			t.Error("the job holds no processors")
		}
	})
}

func TestCancelOfAnIncomingJobIsAppliedOnArrival(t *testing.T) {
	for _, tt := range []struct {
		news MessageKind
		want State
	}{{Confirm, Cancelled}, {Committed, Cancelled}, {Drop, Absent}, {Aborted, Absent}} {
		s, key := in(t, Incoming)
		if j, err := s.Cancel(2, "a"); err != nil || j.State != Incoming || !j.Cancel {
			t.Fatalf("%+v %v", j, err)
		}
		s.Receive(3, &Message{Kind: tt.news, From: "t", Job: "a", Epoch: 3}, nil)
		j := wants(t, s, "a", tt.want)
		if j.Cancel {
			t.Errorf("%v: the cancel is still recorded", tt.news)
		}
		if fx := take(s, 3); len(fx.Commands) != 1 ||
			fx.Commands[0] != (batch.Command{Kind: batch.CmdCancel, Key: key}) {
			t.Errorf("%v: %+v", tt.news, fx.Commands)
		}
	}
}
