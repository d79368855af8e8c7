package client

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestARequestForOneSiteGetsTheRefusalOfThatSite(t *testing.T) {
	m := ranking{
		Targets: []target{{Site: "a"}},
		Decision: &Decision{Candidates: []Candidate{{
			Site: "b", Missing: &Missing{Reason: "refused", Detail: &problem.Problem{
				Reason: problem.TooWide, Message: "9",
			}},
		}}},
	}
	_, err := m.only(&request{site: "b"})
	if e, ok := errors.AsType[*problem.Problem](err); !ok || e.Reason != "too-wide" ||
		submission.FailureOf(err).Kind != submission.Refused {
		t.Errorf("%#v", err)
	}
	if got, err := m.only(&request{}); err != nil || len(got.Targets) != 1 || got.Decision == nil {
		t.Errorf("of a request for any site: %+v, %v", got, err)
	}
}

func TestAResumedOutputIsWrittenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "all")
		var out strings.Builder
		o := &onward{w: &out}
		for _, cut := range append(rapid.SliceOfN(rapid.IntRange(0, len(all)), 0, 5).Draw(t, "cuts"), len(all)) {
			o.at = 0
			for at := 0; at < cut; {
				end := min(cut, at+rapid.IntRange(1, 50).Draw(t, "piece"))
				if n, err := o.Write(all[at:end]); n != end-at || err != nil {
					t.Fatalf("wrote %d of %d: %v", n, end-at, err)
				}
				at = end
			}
		}
		if out.String() != string(all) {
			t.Errorf("%q, want %q", out.String(), all)
		}
	})
}
