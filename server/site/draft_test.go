package site

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// sheet is a batch.Draft of an idle machine with the given waiting jobs.
type sheet struct {
	rectangles
	waits map[batch.Key]batch.Time // their completions
	put   map[batch.Key]*batch.Job
	mute  bool
}

func (p *sheet) Made() batch.Time { return batch.Time(seconds(100)) }

func (p *sheet) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	return !p.mute && p.rectangles.Estimate(now, asks, out)
}

func (p *sheet) Standing(keys []batch.Key, out []batch.Standing) bool {
	for i, key := range keys {
		end, waits := p.waits[key]
		out[i] = batch.Standing{
			Waits: waits, Shape: batch.Shape{Width: 2, Walltime: seconds(10)}, Start: end.Add(-seconds(10)), End: end,
			Kind: batch.Planned,
		}
		if end == batch.Never {
			out[i].Start = end
		}
	}
	return !p.mute
}

func (p *sheet) Submit(key batch.Key, job *batch.Job) {
	p.put[key], p.waits[key] = job, batch.Time(seconds(999))
}

func (p *sheet) Cancel(key batch.Key) bool {
	_, waits := p.waits[key]
	delete(p.waits, key)
	return waits
}

// drafty returns a site with a job in every state that is not final, and a draft of the site. Of
// the waiting jobs, one is a local user's, one has started in the plan, and one cannot start.
func drafty(t *testing.T) (*Site, *Draft, *sheet) {
	t.Helper()
	s := named(t, "lyon")
	p := &sheet{
		rectangles: rectangles{processors: 4}, waits: map[batch.Key]batch.Time{}, put: map[batch.Key]*batch.Job{},
	}
	for _, id := range []batch.JobID{"waits", "runs", "ended", "held", "moving", "begins", "stuck"} {
		key := queue(t, s, id)
		switch id {
		case "runs", "ended":
			_, _ = s.Running(1, key, nil, nil)
		case "held":
			_, _ = s.Hold(1, "another", batch.Hour, []batch.JobID{id})
		case "moving":
			_, _ = s.Move(1, MoveRequest{Job: id, To: "nice"}, idle(id, 50))
			p.waits[key] = batch.Time(seconds(140)) // it may still start
		case "stuck":
			p.waits[key] = batch.Never
		case "waits":
			p.waits[key] = batch.Time(seconds(130))
		}
		if id == "ended" {
			_, _ = s.Ended(2, key, batch.Outcome{End: batch.EndDone}, nil)
		}
	}
	local := submit(t, s, 0, "local", &Request{Menu: menu(2, 10), Origin: batch.Local})
	p.waits[local.Key()] = batch.Time(seconds(120))
	take(s, 1)
	return s, s.Draft(p), p
}

func TestDraftTakesOnlyWaitingMovableJobs(t *testing.T) {
	s, d, p := drafty(t)
	for id, reason := range map[batch.JobID]problem.Reason{
		"runs": problem.NotWaiting, "ended": problem.UnknownJob, "held": problem.NotWaiting,
		"moving": problem.NotWaiting, "begins": problem.NotWaiting,
		"local": problem.NotMovable, "unknown": problem.UnknownJob,
	} {
		n := d.Waiting()
		refused(t, d.Take(id), reason, "job_id")
		same(t, "waiting after "+string(id), d.Waiting(), n)
	}
	n := len(p.waits)
	if err := d.Take("waits"); err != nil {
		t.Fatal(err)
	}
	same(t, "in the plan", len(p.waits), n-1)
	same(t, "waiting", d.Waiting(), s.Load().Waiting-1)
	refused(t, d.Take("waits"), problem.NotWaiting, "job_id")
	wants(t, s, "waits", Waiting)
	if fx := take(s, 1); !fx.Empty() {
		t.Errorf("the draft changed the site: %+v", fx)
	}
}

func TestStandingCountsFromTheInstantOfTheDraft(t *testing.T) {
	_, d, p := drafty(t)
	ids := []batch.JobID{"unknown", "waits", "held", "local", "begins", "stuck", "moving"}
	out := make([]Answer, len(ids))
	d.Standing(ids, out)
	want := Quote{
		Shape: batch.Shape{Width: 2, Walltime: seconds(10)}, Wait: seconds(20), Run: seconds(10),
		Completion: seconds(30), Kind: batch.Planned,
	}
	same(t, "waits", out[1], Answer{Quote: want})
	want.Wait, want.Completion = seconds(10), seconds(20)
	same(t, "local, which only stays", out[3], Answer{Quote: want})
	for i, reason := range map[int]problem.Reason{
		0: problem.UnknownJob, 2: problem.NotWaiting, 4: problem.NotWaiting, 5: problem.CannotRun,
		6: problem.NotWaiting,
	} {
		refused(t, out[i].Err, reason, "job_id")
	}
	_ = d.Take("waits")
	d.Standing(ids[1:2], out[:1])
	refused(t, out[0].Err, problem.NotWaiting, "job_id")
	p.mute = true
	d.Standing([]batch.JobID{"local"}, out[:1])
	if !errors.Is(out[0].Err, ErrNoPlan) {
		t.Errorf("without a plan: %v", out[0].Err)
	}
}

func TestDraftRefusesAJobThatItHas(t *testing.T) {
	_, d, p := drafty(t)
	r := &Request{Menu: menu(1, 30, 2, 20), Owner: "ada", Memory: 7, EarliestStart: batch.Time(seconds(105))}
	n := d.Waiting()
	for _, id := range []batch.JobID{"waits", "runs", "held", "moving", "local"} {
		_, err := d.Put(id, Question{Request: r})
		refused(t, err, problem.JobConflict, "job_id")
	}
	q, err := d.Put("new", Question{Request: r, From: batch.Time(seconds(150))})
	if err != nil || q.Shape.Width != 2 || q.Completion != seconds(70) {
		t.Fatalf("%+v, %v", q, err)
	}
	want := &batch.Job{Shape: q.Shape, Owner: "ada", Memory: 7, EarliestStart: batch.Time(seconds(150))}
	same(t, "job in the plan", p.put[batch.Key{Job: "new"}], want)
	same(t, "waiting", d.Waiting(), n+1)
	_, err = d.Put("new", Question{Request: r})
	refused(t, err, problem.JobConflict, "job_id")
	if err := d.Take("new"); err != nil {
		t.Error(err)
	}
	if err := d.Take("waits"); err != nil {
		t.Error(err)
	}
	if q, err = d.Put("waits", Question{Request: r}); err != nil || q.Completion != seconds(25) {
		t.Errorf("put back: %+v, %v", q, err)
	}
	_, err = d.Put("wide", Question{Request: &Request{Menu: menu(5, 10)}})
	refused(t, err, problem.TooWide, "request.width")
	p.mute = true
	if _, err = d.Put("blind", Question{Request: r}); !errors.Is(err, ErrNoPlan) {
		t.Errorf("without a plan: %v", err)
	}
	same(t, "waiting at last", d.Waiting(), n)
}

func TestDraftAnswersLikeItsSite(t *testing.T) {
	s := newSite(t, services, 4, Exhaustive)
	p := &sheet{rectangles: rectangles{processors: 4}}
	d := s.Draft(p)
	qs := []Question{
		{Request: &Request{Service: "nothing"}},
		{Request: &Request{Service: "work"}, From: batch.Time(seconds(200))},
		{Request: &Request{Service: "work", Width: 9}},
	}
	got, want := make([]Answer, len(qs)), make([]Answer, len(qs))
	d.Quotes(qs, got)
	s.Quotes(d.Made(), qs, want, p)
	text := cmp.Transformer("text", func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	})
	if diff := cmp.Diff(want, got, text); diff != "" {
		t.Error(diff)
	}
}

func TestDraftOfADrainingSiteRefusesJobs(t *testing.T) {
	s := named(t, "lyon")
	key := queue(t, s, "waits")
	s.SetDraining(true)
	d := s.Draft(&sheet{rectangles: rectangles{processors: 4}, waits: map[batch.Key]batch.Time{key: 200}})
	s.SetDraining(false) // the copy is of before
	q := Question{Request: &Request{Menu: menu(1, 5)}}
	out := make([]Answer, 1)
	d.Quotes([]Question{q}, out)
	refused(t, out[0].Err, problem.Draining, "")
	_, err := d.Put("new", q)
	refused(t, err, problem.Draining, "")
	if err := d.Take("waits"); err != nil {
		t.Errorf("a job leaves: %v", err)
	}
}
