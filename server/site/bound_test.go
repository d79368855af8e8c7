package site

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestARequestForOneSiteIsRefusedByAllOthers(t *testing.T) {
	r := &Request{Menu: menu(2, 10), Site: "lyon"}
	nancy := named(t, "nancy")
	plan := &rectangles{processors: 4}
	_, err := nancy.Submit(sec(1), Submission{ID: numbered(1), Request: r}, plan)
	refused(t, err, problem.CannotRun, "request.site")
	_, err = nancy.Quote(sec(1), Question{Request: r}, plan)
	refused(t, err, problem.CannotRun, "request.site")
	var out [1]Answer
	nancy.Quotes(sec(1), []Question{{Request: r}}, out[:], plan)
	refused(t, out[0].Err, problem.CannotRun, "request.site")
	answer, reply := nancy.Receive(sec(1), &Message{
		Kind: Reserve, From: "lyon", To: "nancy", Job: numbered(1), Epoch: 1, Parcel: &Parcel{Dossier: &Dossier{Request: *r}},
	}, idle(numbered(2), 0))
	if !reply || answer.Kind != Refused {
		t.Errorf("a move to another site: %+v", answer)
	}
}

func TestAJobForOneSiteIsNeitherHeldNorMovedAndOutlivesARestart(t *testing.T) {
	s := named(t, "lyon")
	submit(t, s, sec(1), numbered(1), &Request{Menu: menu(2, 10), Site: "lyon"})
	fx := take(s, sec(1))
	again := named(t, "lyon")
	if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
		t.Fatal(err)
	}
	if err := again.Recover(sec(2), nil); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Site{"as submitted": s, "after a restart": again} {
		if held, err := s.Hold(sec(2), "round", batch.Minute, nil); err != nil || len(held) != 0 {
			t.Errorf("%s: held %v, %v", name, held, err)
		}
		_, err := s.Move(sec(2), Order{Job: numbered(1), To: "nancy"}, idle(numbered(1), sec(9)))
		refused(t, err, problem.NotMovable, "job_id")
		if l := s.Load(); l.Waiting != 1 || l.Bound != 1 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
