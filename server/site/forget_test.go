package site

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestForgottenJobsLeaveTheOrderOfTheOthers(t *testing.T) {
	s := newSite(t, sevenMinutes, 5, Exhaustive)
	var keep []batch.JobID
	for i := range 200 {
		j := submit(t, s, 0, batch.JobID(fmt.Sprint(i)), &Request{Service: "seven"})
		if i%7 == 0 {
			keep = append(keep, j.ID)
			continue
		}
		if _, err := s.Ended(1, j.Key(), batch.Outcome{End: batch.EndDone}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Forget(j.ID); err != nil {
			t.Fatal(err)
		}
		take(s, 1)
		if s.Knows(j.ID) {
			t.Fatal("a forgotten job is still in memory")
		}
	}
	var listed []batch.JobID
	for after, more := uint64(0), true; more; {
		var jobs []Job
		jobs, more = s.List(Filter{}, after, 3)
		for _, j := range jobs {
			listed, after = append(listed, j.ID), j.Serial
		}
	}
	if !slices.Equal(listed, keep) {
		t.Errorf("listed %v, want %v", listed, keep)
	}
	if n := len(s.book.order); n > 2*len(keep)+1 {
		t.Errorf("the order has %d entries for %d jobs", n, len(keep))
	}
	if l := s.Load(); l.Waiting != len(keep) || int(l.Ended) != 200-len(keep) {
		t.Errorf("load: %+v", l)
	}
}

func TestOnlyEndedJobsAreForgotten(t *testing.T) {
	s := newSite(t, sevenMinutes, 5, Exhaustive)
	submit(t, s, 0, "a", &Request{Service: "seven"})
	var r *problem.Problem
	if err := s.Forget("a"); !errors.As(err, &r) || r.Reason != problem.BadValue {
		t.Errorf("a waiting job: %v", err)
	}
	if err := s.Forget("b"); !errors.As(err, &r) || r.Reason != problem.UnknownJob {
		t.Errorf("an unknown job: %v", err)
	}
}

// shared is a planner in which jobs take twice their walltime.
type shared struct{}

func (shared) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	for i := range asks {
		out[i].Kind = batch.Forecast
		starts := out[i].Grow(len(asks[i].Shapes))
		for k, shape := range asks[i].Shapes {
			starts[k] = now
			out[i].Ends = append(out[i].Ends, now.Add(2*shape.Walltime))
		}
	}
	return true
}

func TestQuotesUseTheEndsOfThePlanner(t *testing.T) {
	for _, tuning := range []Tuning{Exhaustive, Binary} {
		s := newSite(t, sevenMinutes, 5, tuning)
		q, err := s.Quote(7, Question{Request: &Request{Service: "seven"}}, shared{})
		if err != nil {
			t.Fatal(err)
		}
		if q.Run != 2*q.Shape.Walltime || q.Completion != q.Wait+q.Run {
			t.Errorf("%v: %+v", tuning, q)
		}
	}
}

func TestTheEndOfAJobIsWrittenOnce(t *testing.T) {
	for state := Waiting; state <= Incoming; state++ {
		s, _ := in(t, state)
		s.change(s.book.byID["a"], func() {})
		fx := take(s, 1)
		if want := state.Final() && state != Gone; fx.Writes[0].Ended() != want {
			t.Errorf("%v: ended %v", state, !want)
		}
		_ = s.Forget("a")
		if fx := take(s, 2); len(fx.Writes) > 0 && fx.Writes[0].Ended() {
			t.Errorf("%v: the forgotten job ended again", state)
		}
	}
}
