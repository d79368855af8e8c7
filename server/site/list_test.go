package site

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestList(t *testing.T) {
	s := newSite(t, "", 8, Exhaustive)
	for i, id := range []batch.JobID{"e", "d", "c", "b", "a"} {
		r := &Request{Service: []string{"lu", "sleep"}[i%2], Owner: []string{"ada", "eve"}[i/3], Menu: menu(1, 5)}
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
		after  batch.JobID
		limit  int
		want   string
		more   batch.JobID
	}{
		{"", "", 0, "edcba", ""},
		{"", "", 2, "ed", "d"},
		{"", "d", 2, "cb", "b"},
		{"", "b", 2, "a", ""},
		{"", "a", 2, "", ""},
		{"", "", 5, "edcba", ""},
		{"state=waiting", "", 0, "cba", ""},
		{"state=waiting", "", 3, "cba", ""},
		{"state=waiting", "e", 1, "c", "c"},
		{"state=active", "", 0, "dcba", ""},
		{"state=done", "", 0, "e", ""},
		{"service=sleep", "", 0, "db", ""},
		{"service=sleep", "", 1, "d", "d"},
		{"owner=eve  state=active service=lu", "", 0, "a", ""},
		{"owner=nobody", "", 0, "", ""},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		jobs, more, err := s.List(f, tt.after, tt.limit)
		var got strings.Builder
		for _, j := range jobs {
			got.WriteString(string(j.ID))
		}
		if err != nil || got.String() != tt.want || more != tt.more {
			t.Errorf("%q after %q limit %d: got %q more %q %v", tt.filter, tt.after, tt.limit, got.String(), more, err)
		}
	}
	if _, _, err := s.List(Filter{}, "z", 1); err == nil {
		t.Error("an unknown token is accepted")
	}
	for _, bad := range []string{"state", "state=", "state=unspecified", "state=WAITING", "colour=red", "=x"} {
		var refused *Refusal
		if _, err := ParseFilter(bad); !errors.As(err, &refused) || refused.Accepted == "" {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
