package server

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestLaunchesPauseLongerWithEachFailureAndContinueAfterASuccess(t *testing.T) {
	var l launches
	at := time.Unix(1e9, 0)
	if l.delay(at) != 0 || l.succeeded() {
		t.Error("closed before a failure")
	}
	began := at
	for i := range 8 {
		pause, closed := l.failed(at, "no files")
		// The pauses are 1, 2, 4, ... 30 s, each up to half as long or longer.
		want := min(firstLaunchPause<<i, longestLaunchPause)
		if !closed || pause < want/2 || pause > want*3/2 {
			t.Errorf("failure %d: closed %v for %v, want about %v", i, closed, pause, want)
		}
		if _, again := l.failed(at, "no memory"); again {
			t.Errorf("failure %d: a second failure in the pause closes again", i)
		}
		if left, why := l.closed(at); left != pause || why != "no files" {
			t.Errorf("failure %d: closed for %v: %s", i, left, why)
		}
		if d := l.delay(at).Std(); d < pause || d < at.Sub(began).Truncate(time.Microsecond) {
			t.Errorf("failure %d: delay %v", i, d)
		}
		at = at.Add(pause)
		if left, why := l.closed(at); left != 0 || why != "" || l.delay(at) != 0 {
			t.Errorf("failure %d: still closed for %v: %s", i, left, why)
		}
	}
	if _, closed := l.failed(at, "no files"); !closed {
		t.Error("open after a failure")
	}
	if !l.succeeded() || l.delay(at) != 0 {
		t.Error("closed after a success")
	}
	if pause, _ := l.failed(at, "no files"); pause > 2*firstLaunchPause {
		t.Errorf("the first pause after a success is %v", pause)
	}
	if d := l.delay(at); d > batch.Duration(2*firstLaunchPause/time.Microsecond) {
		t.Errorf("the first delay after a success is %v", d)
	}
}

// While launches fail, nothing starts as the plan says. All answers are later by as long as launches
// have failed, so that new and waiting jobs go to other sites.
func TestEstimatesAndDraftsCountTheTimeWithoutLaunches(t *testing.T) {
	s, _, queue := crew(t, configured(t, "policy: {name: cbf}"))
	ask := func() (estimate time.Duration, answers []time.Duration) {
		t.Helper()
		res, err := s.client.Estimate(within(t), &droverv1.EstimateRequest{Request: wide})
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := newID(t)
		d := s.draft(t, &droverv1.DraftRequest{
			Round: newID(t), Begin: true, End: true,
			Edits:     []*droverv1.DraftEdit{{JobId: elsewhere, Put: true, Request: wide}},
			Questions: append(standing(queue[0]), &droverv1.DraftQuestion{JobId: newID(t), Request: wide}),
		})
		for _, q := range slices.Concat(d.GetEdits(), d.GetAnswers()) {
			answers = append(answers, q.GetCompletion().AsDuration())
		}
		return res.GetQuote().GetCompletion().AsDuration(), answers
	}
	_, before := ask()
	s.launches.failed(time.Now(), "no files")
	s.launches.mu.Lock()
	s.launches.since = s.launches.since.Add(-time.Hour)
	s.launches.until = s.launches.until.Add(time.Hour)
	s.launches.mu.Unlock()
	estimate, after := ask()
	if estimate < time.Hour {
		t.Errorf("estimate %v", estimate)
	}
	for i := range before {
		if later := after[i] - before[i]; later < time.Hour-10*time.Second || later > time.Hour+10*time.Second {
			t.Errorf("answer %d of the draft: %v, was %v", i, after[i], before[i])
		}
	}
	s.launches.succeeded()
	if estimate, _ := ask(); estimate > time.Hour {
		t.Errorf("after a success: estimate %v", estimate)
	}
}
