package site

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

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
		{"owner=nobody", 0, 0, "", false},
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
	for _, bad := range []string{"state", "state=", "state=unspecified", "state=WAITING", "colour=red", "=x", "movable=", "movable=maybe"} {
		var refused *problem.Problem
		if _, err := ParseFilter(bad); !errors.As(err, &refused) || refused.Accepted == "" {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
