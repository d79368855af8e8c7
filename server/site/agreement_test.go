package site

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestAgreementIsBrokenByTheUserOrByTheSite(t *testing.T) {
	const walltime = 100
	for _, c := range []struct {
		name           string
		state          State
		end            batch.End
		started, ended int64
		retried        uint8
		want           AgreementState
	}{
		{"in time", Done, batch.EndDone, 0, 100, 0, AgreedKept},
		{"at the deadline", Done, batch.EndDone, 200, 200, 0, AgreedKept},
		{"late, though it was quick", Done, batch.EndDone, 190, 201, 0, BrokenBySite},
		{"it outran its estimate", Killed, batch.EndKilled, 50, 150, 0, BrokenByUser},
		{"it was shortened", Killed, batch.EndKilled, 50, 120, 0, BrokenBySite},
		{"started too late to end in time", Killed, batch.EndKilled, 150, 250, 0, BrokenBySite},
		{"failed by itself", Failed, batch.EndFailed, 50, 60, 0, BrokenByUser},
		{"failed by itself, late", Failed, batch.EndFailed, 150, 160, 0, BrokenBySite},
		{"lost", Failed, batch.EndLost, 50, 60, 0, BrokenBySite},
		{"never started", Failed, batch.EndStartFailed, -1, 60, 0, BrokenBySite},
		{"cancelled", Cancelled, batch.EndCancelled, -1, 60, 0, AgreedVoid},
		{"cancelled late", Cancelled, batch.EndCancelled, 190, 300, 0, AgreedVoid},
		{"failed, and in time after all", Done, batch.EndDone, 50, 60, 1, AgreedKept},
		{"failed, and late for that", Done, batch.EndDone, 190, 201, 1, BrokenByUser},
		{"failed, and had no other place in the plan", Failed, batch.EndStartFailed, -1, 60, 1, BrokenByUser},
	} {
		j := &Job{
			State: c.state, Retried: c.retried, Shape: batch.Shape{Width: 1, Walltime: walltime * batch.Second},
			Started: sec(c.started), Ended: sec(c.ended),
			Needs: &Needs{Deadline: sec(200), Agreed: &Agreement{}}, Run: &Run{Outcome: batch.Outcome{End: c.end}},
		}
		if c.started < 0 {
			j.Started = batch.Never
		}
		if got := j.agreementResult(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRefusedAgreementOffersTheNearestAlternative(t *testing.T) {
	s := named(t, "lyon")
	p := profile.New(0, 4)
	p.Reserve(0, sec(100), 4)
	r := &Request{
		Menu:     []batch.Shape{{Width: 1, Walltime: 20 * batch.Second}, {Width: 4, Walltime: 10 * batch.Second}},
		Deadline: sec(110), Agreement: &Agreement{},
	}
	quote := func(kind batch.Kind) (Quote, error) {
		return s.Quote(sec(1), Question{Request: r}, windows{Profile: p, kind: kind})
	}
	for _, kind := range []batch.Kind{batch.Promised, batch.Planned, batch.Probable} {
		if q, err := quote(kind); err != nil || q.Shape.Width != 4 || q.Wait != 99*batch.Second {
			t.Errorf("%v: %+v, %v", kind, q, err)
		}
	}
	_, err := quote(batch.Forecast)
	refused(t, err, problem.NoPromise, "request.agreement")
	r.Deadline--
	_, err = quote(batch.Promised)
	refused(t, err, problem.NoOffer, "request.deadline")
	refusal, _ := errors.AsType[*problem.Problem](err)
	if o := refusal.Offer; o == nil ||
		*o != (problem.Offer{Site: "lyon", Wait: 99 * time.Second, Completion: 109 * time.Second, Width: 4}) {
		t.Errorf("%+v", o)
	}
	var out [1]Answer
	s.Quotes(sec(1), []Question{{Request: r}}, out[:], windows{Profile: p})
	refused(t, out[0].Err, problem.NoOffer, "request.deadline")
}

func TestJobsWithAnAgreementAreNeitherHeldNorMovedAndOutliveARestart(t *testing.T) {
	s := named(t, "lyon")
	p := windows{Profile: profile.New(0, 4)}
	r := &Request{Menu: menu(2, 10), Deadline: sec(1000), Agreement: &Agreement{Value: 2, Penalty: 7, Checkpoint: true}}
	if _, err := s.Submit(sec(1), Submission{ID: numbered(1), Request: r}, p); err != nil {
		t.Fatal(err)
	}
	fx := take(s, sec(1))
	if spec := fx.Plans[0].Job; !spec.Agreed || spec.Deadline != sec(1000) || !spec.Checkpoint || !fx.Plans[0].Promise {
		t.Errorf("%+v", fx.Plans[0])
	}
	if held, err := s.Hold(sec(2), "round", batch.Minute, nil); err != nil || len(held) != 0 {
		t.Errorf("%v, %v", held, err)
	}
	_, err := s.Move(sec(2), MoveRequest{Job: numbered(1), To: "nancy"}, idle(numbered(1), sec(9)))
	refused(t, err, problem.NotMovable, "job_id")
	if l := s.Load(); l.Waiting != 1 || l.Bound != 1 {
		t.Errorf("%+v", l)
	}
	again := named(t, "lyon")
	if err := again.Restore([]Record{fx.Writes[0].Record}); err != nil {
		t.Fatal(err)
	}
	again.RestoreAgreements(s.Agreements())
	if err := again.Recover(sec(3), nil); err != nil {
		t.Fatal(err)
	}
	plan := take(again, sec(3)).Plans[0]
	if !plan.Job.Agreed || plan.Promise { // an accepted agreement must not be refused
		t.Errorf("%+v", plan)
	}
	if _, err := again.Running(sec(4), plan.Key, nil, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the event can be repeated
		_, _ = again.Ended(sec(1001), plan.Key, batch.Outcome{End: batch.EndDone}, nil)
	}
	if a := again.Agreements(); a != (Agreements{Accepted: 1, BySite: 1, Penalty: 7}) {
		t.Errorf("%+v", a)
	}
	// A job that the batch system refused leaves no trace.
	if _, err := s.Submit(sec(5), Submission{ID: numbered(2), Request: r}, p); err != nil {
		t.Fatal(err)
	}
	s.Revoke(numbered(2))
	if fx := take(s, sec(5)); len(fx.Writes) != 0 || s.Knows(numbered(2)) || s.Agreements().Accepted != 1 ||
		s.Load().Waiting != 1 {
		t.Errorf("%+v, %+v", fx.Writes, s.Agreements())
	}
}
