package site

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// desk is a plan of an idle machine, with the completions of some jobs.
type desk struct {
	rectangles
	standing map[batch.JobID]batch.Time // completions
}

func (d *desk) Standing(_ batch.Time, key batch.Key) (batch.Time, bool) {
	end, known := d.standing[key.Job]
	return end, known
}

// idle returns the plan of an idle machine on which a job completes at an instant.
func idle(id batch.JobID, end batch.Time) *desk {
	return &desk{rectangles: rectangles{processors: 4}, standing: map[batch.JobID]batch.Time{id: end}}
}

// named returns a site of four processors without services.
func named(t testing.TB, name string) *Site {
	t.Helper()
	s, err := New(Config{Name: name, Platform: batch.Processors(4)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func submit(t testing.TB, s *Site, now batch.Time, id batch.JobID, r *Request) Job {
	t.Helper()
	j, err := s.Submit(now, Submission{ID: id, Request: r}, &rectangles{processors: s.processors})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// queue submits a job that fits any site, and returns the key of its attempt.
func queue(t testing.TB, s *Site, id batch.JobID) batch.Key {
	t.Helper()
	j := submit(t, s, 0, id, &Request{Menu: menu(2, 10)})
	return j.Key()
}

// take returns the effects of the calls since the last take.
func take(s *Site, now batch.Time) Effects {
	var fx Effects
	s.Take(now, &fx)
	return fx
}

// job returns a job, which must exist.
func job(t testing.TB, s *Site, id batch.JobID) Job {
	t.Helper()
	j, err := s.Job(id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// wants requires a job to be in a state, and returns the job.
func wants(t testing.TB, s *Site, id batch.JobID, want State) Job {
	t.Helper()
	j := Job{State: Absent}
	if known := s.book.byID[id]; known != nil {
		j = *known
	}
	if j.State != want {
		t.Fatalf("job %s is %v, want %v", id, j.State, want)
	}
	return j
}

// refused requires a *problem.Problem with a reason and a field.
func refused(t testing.TB, err error, reason problem.Reason, field string) {
	t.Helper()
	var r *problem.Problem
	if !errors.As(err, &r) || r.Reason != reason || r.Field != field || r.Error() == "" {
		t.Errorf("got %v, want a refusal with %s of %s", err, reason, field)
	}
}

// kinds returns the kinds of messages, for comparison.
func kinds(messages []Message) []MessageKind {
	var out []MessageKind
	for _, m := range messages {
		out = append(out, m.Kind)
	}
	return out
}

func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}
