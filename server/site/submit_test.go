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
		Shape: batch.Shape{Width: 4, Walltime: seconds(105)}, Owner: "ada", Name: "seven", Memory: 7, CPU: batch.One / 2, Site: "b", Input: 9,
	}
	fx := take(s, 0)
	same(t, "plans", fx.Plans, []batch.Command{{Kind: batch.CmdSubmit, Key: batch.Key{Job: "a", Attempt: 1}, Job: &want}})
	if len(fx.Commands)+len(fx.Claims)+len(fx.Messages)+len(fx.Discard) != 0 {
		t.Errorf("effects: %+v", fx)
	}
	if len(fx.Writes) != 1 || fx.Writes[0].Record.State != "waiting" || string(fx.Writes[0].Dossier.Decision) != "why" || fx.Writes[0].Until != 0 {
		t.Errorf("writes: %+v", fx.Writes)
	}
	if j.State != Waiting || j.Estimate.Completion != seconds(105) || !j.Kept || j.Started != batch.Never || j.Ended != batch.Never || j.Revision != 1 {
		t.Errorf("job: %+v", j)
	}
}

func TestTheSameSubmissionAgainGetsTheSameAnswer(t *testing.T) {
	s := newSite(t, services, 8, Exhaustive)
	request := func() *Request {
		return &Request{
			Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(3)}, Labels: map[string]string{"a": "b"},
			Licenses: []batch.License{{Name: "x", Copies: 1}}, Deadline: 1 << 50,
		}
	}
	first := submit(t, s, 0, "a", request())
	take(s, 0)
	again, err := s.Submit(99, Submission{ID: "a", Request: request()}, &rectangles{silent: true})
	if fx := take(s, 99); err != nil || !fx.Empty() {
		t.Fatalf("again: %+v, %v", fx, err)
	}
	if again.Revision != first.Revision || again.Needs != first.Needs || again.Estimate != first.Estimate || again.Submitted != 0 {
		t.Errorf("again: %+v", again)
	}
	if _, err := s.Running(5, first.Key(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if again, err = s.Submit(99, Submission{ID: "a", Request: request()}, nil); err != nil || again.State != Running {
		t.Errorf("the job as it is now: %v %v", again.State, err)
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
		t.Error("it is known")
	}
	if fx := take(s, 0); !fx.Empty() {
		t.Errorf("effects: %+v", fx)
	}
	submit(t, s, 0, "a", &Request{Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(3)}})
}

func TestAWithdrawnJobIsNeverAccepted(t *testing.T) {
	s := named(t, "s")
	for i := range 2 { // the answer may have been lost
		if withdrawn, j := s.Withdraw(batch.Time(i), "a"); !withdrawn || !j.Withdrawn || j.State != Absent || j.Revision != 1 {
			t.Fatalf("withdrawn: %v, %+v", withdrawn, j)
		}
	}
	_, err := s.Submit(2, Submission{ID: "a", Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Withdrawn, "job_id")
	fx := take(s, 3)
	if len(fx.Writes) != 1 || !fx.Writes[0].Record.Withdrawn || fx.Writes[0].Until != batch.Time(3).Add(Horizon) || fx.Writes[0].Dossier != nil || s.Knows("a") {
		t.Fatalf("%+v", fx)
	}
	// From the disk, too.
	if err := s.Recall(&fx.Writes[0].Record); err != nil {
		t.Fatal(err)
	}
	_, err = s.Submit(4, Submission{ID: "a", Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Withdrawn, "job_id")
	if fx := take(s, 4); !fx.Empty() || s.Knows("a") {
		t.Errorf("a tombstone that was only asked about: %+v", fx)
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
		t.Error("it is not withdrawn any more")
	}
	if withdrawn, j := s.Withdraw(2, "a"); !withdrawn || j.State != Incoming {
		t.Error("the same question gets another answer")
	}
	s.Receive(3, &Message{Kind: Drop, From: "t", Job: "a", Epoch: 1}, nil)
	_, err := s.Submit(4, Submission{ID: "a", Request: &Request{Menu: menu(1, 1)}}, instant{})
	refused(t, err, problem.Withdrawn, "job_id")
}

func TestADrainingSiteAnswersAboutWhatItHasOnly(t *testing.T) {
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
	if answer, _ := s.Receive(1, reservation("t", "s", "b", 1), idle("b", 9)); answer.Kind != Refused || answer.Why == "" {
		t.Errorf("a reservation: %+v", answer)
	}
	if s.Knows("b") || !s.Draining() {
		t.Error("it has taken a job")
	}
	s.SetDraining(false)
	queue(t, s, "b")
}

// TestAForgottenJobDoesNotComeBack by a repeated submission, with the same request
// or another one.
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

func TestWhatMayBeExecutedTwiceIsKnown(t *testing.T) {
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

func TestMenusThatDifferInAnyShapeAreOtherRequests(t *testing.T) {
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
