package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFirstDaysCutsLongerTraces(t *testing.T) {
	s := &Scenario{Sites: []GridSite{
		{Trace: "a"},
		{Trace: "a", Length: "12h"},
		{Trace: "a", From: "2d", Length: "30.5d"},
		{},
		{Lublin: &Lublin{Jobs: 310, Span: "31d"}},
		{Lublin: &Lublin{Jobs: 3100}},
		{Lublin: &Lublin{Jobs: 5, Span: "31d"}},
		{Lublin: &Lublin{Jobs: 5, Span: "1d"}},
	}}
	want := []GridSite{
		{Trace: "a", Length: "3d"},
		{Trace: "a", Length: "12h"},
		{Trace: "a", From: "2d", Length: "3d"},
		{},
		{Lublin: &Lublin{Jobs: 30, Span: "3d"}},
		{Lublin: &Lublin{Jobs: 300}},
		{Lublin: &Lublin{Jobs: 1, Span: "3d"}},
		{Lublin: &Lublin{Jobs: 5, Span: "1d"}},
	}
	if d := cmp.Diff(want, s.FirstDays(3).Sites); d != "" {
		t.Error(d)
	}
	if s.Sites[0].Length != "" || s.Sites[4].Lublin.Jobs != 310 {
		t.Errorf("the scenario itself has changed: %+v", s.Sites)
	}
}
