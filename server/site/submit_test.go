package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
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
			Licences: []batch.Licence{{Name: "x", Copies: 1}}, Deadline: 1 << 50,
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
		"licences":   func(r *Request) { r.Licences[0].Copies = 2 },
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
			refused(t, err, ReasonJobConflict, "job_id")
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
