package site

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestNoJobIsLongerThanItsSiteAllows(t *testing.T) {
	s, err := New(Config{Platform: batch.Processors(8), MaxWalltime: batch.Minute})
	if err != nil {
		t.Fatal(err)
	}
	minutes := func(width int32, n float64) batch.Shape {
		return batch.Shape{Width: width, Walltime: batch.Duration(n * float64(batch.Minute))}
	}
	for name, c := range map[string]struct {
		menu []batch.Shape
		want string
	}{
		"the narrow ones are too long":  {[]batch.Shape{minutes(1, 4), minutes(2, 2), minutes(4, 1), minutes(8, 0.5)}, "8×30s"},
		"the only one is just not":      {[]batch.Shape{minutes(2, 1)}, "2×1m0s"},
		"all of them are too long":      {[]batch.Shape{minutes(1, 4), minutes(2, 2)}, "too-long request.walltime 1s..1m0s at this site"},
		"one between is too long":       {[]batch.Shape{minutes(1, 1), minutes(2, 2), minutes(4, 0.2)}, "4×12s"},
		"wider than the site, too long": {[]batch.Shape{minutes(1, 4), minutes(9, 1)}, "too-long request.walltime 1s..1m0s at this site"},
	} {
		q, err := s.Quote(0, Question{Request: &Request{Service: "trace", Menu: c.menu}}, &rectangles{processors: 8})
		got := fmt.Sprintf("%d×%v", q.Shape.Width, q.Shape.Walltime)
		if r, _ := errors.AsType[*problem.Problem](err); r != nil {
			got = string(r.Reason) + " " + r.Field + " " + r.Accepted
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, d := range []batch.Duration{-1, 1, batch.Forever} {
		if _, err := New(Config{Platform: batch.Processors(8), MaxWalltime: d}); err == nil {
			t.Errorf("a limit of %v", d)
		}
	}
}
