package site

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// leastOf returns the minimum that a refusal accepts.
func leastOf(t *rapid.T, err error) batch.Duration {
	refusal, is := errors.AsType[*problem.Problem](err)
	var text, rest string
	if !is {
		t.Fatalf("got %v", err)
	}
	if _, err := fmt.Sscanf(refusal.Accepted, "at least %s %s", &text, &rest); err != nil {
		t.Fatalf("%q: %v", refusal.Accepted, err)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d%time.Second != 0 {
		t.Fatalf("%q: %v, %v", refusal.Accepted, d, err)
	}
	if fraction := regexp.MustCompile(`\d\.\d|[mµ]s`); fraction.MatchString(refusal.Error()) {
		t.Fatalf("fractions of a second in %q", refusal)
	}
	return batch.Duration(d / time.Microsecond)
}

// A user enters the accepted value a moment after the refusal.
func TestAcceptedValueOfARefusalIsAcceptedAMomentLater(t *testing.T) {
	s := named(t, "lyon")
	rapid.Check(t, func(t *rapid.T) {
		any := func(what string, most batch.Duration) batch.Duration {
			return batch.Duration(rapid.Int64Range(1, int64(most)).Draw(t, what))
		}
		now := sec(1000).Add(any("now", batch.Second))
		later := now.Add(any("later", batch.Second/2))
		p := profile.New(0, 4)
		p.Reserve(0, now.Add(any("busy", 100*batch.Second)), 4)
		planner := windows{Profile: p, kind: batch.Promised}
		r := Request{Menu: []batch.Shape{{Width: 2, Walltime: any("walltime", 100*batch.Second) + batch.Second}}}
		r.Deadline = now + 1
		if rapid.Bool().Draw(t, "agreed") {
			r.Agreement = &Agreement{}
		}
		_, err := s.Quote(now, Question{Request: &r}, planner)
		r.Deadline = later.Add(leastOf(t, err))
		if _, err := s.Quote(later, Question{Request: &r}, planner); err != nil {
			t.Fatalf("a deadline: %v", err)
		}

		b := Booking{ID: numbered(1), Width: 2, Duration: r.Menu[0].Walltime}
		begin := func(now batch.Time) batch.Time { return now }
		if rapid.Bool().Draw(t, "from") {
			b.From = now.Add(any("ahead", 10*batch.Second))
			begin = func(batch.Time) batch.Time { return b.From }
		}
		b.Until = max(b.From, now) + 1
		free := windows{Profile: profile.New(0, 4)}
		_, err = s.OfferReservation(now, b, free)
		b.Until = begin(later).Add(leastOf(t, err))
		if b.From > 0 && b.From < later.Add(lead) {
			return // a fixed start is too near for the later call
		}
		if _, err := s.OfferReservation(later, b, free); err != nil {
			t.Fatalf("a window: %v", err)
		}
	})
}

func TestRefusalsOfInstantsUseWholeSeconds(t *testing.T) {
	s := named(t, "lyon")
	now := sec(1000) + 1
	for _, b := range []Booking{{From: sec(990)}, {From: sec(980), Until: sec(990)}, {From: now.Add(2 * maxAhead)}} {
		b.ID, b.Width, b.Duration = numbered(1), 1, batch.Minute
		_, err := s.OfferReservation(now, b, windows{Profile: profile.New(0, 4)})
		if refusal, is := errors.AsType[*problem.Problem](err); !is ||
			regexp.MustCompile(`\d\.\d|[mµ]s`).MatchString(refusal.Error()) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	one := Booking{ID: numbered(1), Width: 1, Duration: batch.Minute, From: sec(2000)}
	busy := profile.New(0, 4)
	busy.Reserve(sec(1990), sec(2100), 4)
	_, err := s.OfferReservation(now, one, windows{Profile: busy})
	if err == nil || !regexp.MustCompile("no room in the plan for 1 processor for").MatchString(err.Error()) {
		t.Error(err)
	}
}

func TestCatalogueReasonsAreReasonsOfProblems(t *testing.T) {
	for _, reason := range []string{
		catalogue.ReasonUnknownArgument, catalogue.ReasonMissingArgument, catalogue.ReasonWrongType,
		catalogue.ReasonOutOfRange, catalogue.ReasonWrongDimensions,
		catalogue.ReasonTooWide, catalogue.ReasonTooLong, catalogue.ReasonUnavailable,
	} {
		if problem.Reason(reason).Class() == 0 {
			t.Errorf("package problem does not know the reason %q", reason)
		}
	}
}
