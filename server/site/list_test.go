package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestMovesAreListedFromTheLatest(t *testing.T) {
	s := named(t, "s")
	for i, id := range []batch.JobID{"a", "b", "c"} {
		submit(t, s, 0, id, &Request{Service: "lu", Menu: menu(1, 1)})
		_, _ = s.Move(batch.Time(10+i/2), MoveRequest{Job: id, To: "t"}, idle(id, 99))
	}
	s.Receive(20, &Message{Kind: Refused, From: "t", Job: "b", Epoch: 1, Why: "full"}, nil)
	_, _ = s.Move(30, MoveRequest{Job: "b", To: "u", Seen: 1}, idle("b", 99))
	_, _ = s.Withdraw(30, "w")
	list := func(filter string, after MoveCursor, limit int) (out string, last MoveCursor) {
		t.Helper()
		f, err := ParseMoveFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range s.Moves(f, after, limit) {
			out += fmt.Sprint(m.Job, m.Move.Epoch, " ")
			last = m.Cursor()
			if m.Service != "lu" {
				t.Errorf("%+v", m)
			}
		}
		return out, last
	}
	for _, tt := range []struct{ filter, want string }{
		{"", "b2 c1 a1 b1 "},
		{"job=b", "b2 b1 "},
		{"state=pending", "b2 c1 a1 "},
		{"state=aborted", "b1 "},
		{" job=b  state=pending ", "b2 "},
		{"state=moved", ""},
		{"job=unknown", ""},
	} {
		got, _ := list(tt.filter, MoveCursor{}, 10)
		same(t, tt.filter, got, tt.want)
		// List pages of one move while new moves are added at the front.
		paged := ""
		for after := (MoveCursor{}); ; {
			page, last := list(tt.filter, after, 1)
			if page == "" {
				break
			}
			paged, after = paged+page, last
		}
		same(t, tt.filter+" in pages", paged, tt.want)
	}
	for _, bad := range []string{"job", "job=", "state=", "state=done", "colour=red"} {
		_, err := ParseMoveFilter(bad)
		refused(t, err, problem.BadValue, "filter")
	}
}

func TestPausesNeverGetShorter(t *testing.T) {
	s, err := New(Config{Platform: batch.Processors(1), Patience: Patience{First: batch.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	j := &Job{}
	for range 5 {
		same(t, "pause", s.backoff(0, j), batch.Time(batch.Minute))
	}
	for _, p := range []Patience{{First: -1}, {Longest: -1}, {First: 2, Longest: 1}, {Move: -1}, {Idle: -1}} {
		if _, err := New(Config{Platform: batch.Processors(1), Patience: p}); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}

func TestList(t *testing.T) {
	s := newSite(t, "", 8, Exhaustive)
	for i, id := range []batch.JobID{"e", "d", "c", "b", "a"} {
		r := &Request{Service: []string{"lu", "sleep"}[i%2], Owner: []string{"ada", "eve"}[i/3], Menu: menu(1, 5)}
		if id == "b" {
			r.Origin = batch.Local
		}
		j := submit(t, s, 0, id, r)
		if i < 2 {
			_, _ = s.Running(1, j.Key(), nil, nil)
		}
		if i == 0 {
			_, _ = s.Ended(2, j.Key(), batch.Outcome{End: batch.EndDone}, nil)
		}
	}
	for _, tt := range []struct {
		filter string
		after  uint64
		limit  int
		want   string
		more   bool
	}{
		{"", 0, 0, "edcba", false},
		{"", 0, 2, "ed", true},
		{"", 2, 2, "cb", true},
		{"", 4, 2, "a", false},
		{"", 5, 2, "", false},
		{"", 0, 5, "edcba", false},
		{"state=waiting", 0, 0, "cba", false},
		{"state=waiting", 0, 3, "cba", false},
		{"state=waiting", 1, 1, "c", true},
		{"state=active", 0, 0, "dcba", false},
		{"state=done", 0, 0, "e", false},
		{"service=sleep", 0, 0, "db", false},
		{"service=sleep", 0, 1, "d", true},
		{"owner=eve  state=active service=lu", 0, 0, "a", false},
		{"owner=unknown", 0, 0, "", false},
		{"id=c", 0, 0, "c", false},
		{"id=c", 3, 0, "", false},
		{"id=cc", 0, 0, "", false},
		{"movable=true", 0, 0, "edca", false},
		{"movable=false", 0, 0, "b", false},
		{"state=waiting movable=true", 0, 0, "ca", false},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		jobs, more := s.List(f, tt.after, tt.limit)
		var got strings.Builder
		for _, j := range jobs {
			got.WriteString(string(j.ID))
		}
		if got.String() != tt.want || more != tt.more {
			t.Errorf("%q after %d limit %d: got %q more %t", tt.filter, tt.after, tt.limit, got.String(), more)
		}
	}
	for _, bad := range []string{
		"state", "state=", "state=unspecified", "state=WAITING", "colour=red", "=x", "movable=", "movable=maybe", "id=",
	} {
		var refused *problem.Problem
		if _, err := ParseFilter(bad); !errors.As(err, &refused) || refused.Accepted == "" {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

// after finds by bisection what a scan finds, also between removed jobs.
func TestListsContinueWhereAScanWould(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := book{byID: make(map[batch.JobID]*Job)}
		for i := range rapid.IntRange(0, 40).Draw(r, "jobs") {
			b.add(&Job{ID: batch.JobID(fmt.Sprint(i))})
		}
		for _, i := range rapid.SliceOf(rapid.IntRange(0, 40)).Draw(r, "removed") {
			if j := b.byID[batch.JobID(fmt.Sprint(i))]; j != nil {
				b.remove(j)
			}
		}
		serial := rapid.Uint64Range(0, 42).Draw(r, "serial")
		var want, got []uint64
		for _, j := range b.order {
			if j != nil && j.Serial > serial {
				want = append(want, j.Serial)
			}
		}
		for _, j := range b.after(serial) {
			if j != nil {
				got = append(got, j.Serial)
			}
		}
		if !slices.Equal(want, got) {
			r.Fatalf("after %d: %v, want %v", serial, got, want)
		}
	})
}
