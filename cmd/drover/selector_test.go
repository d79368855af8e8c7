package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

const someID = "01a1fddd-b7ba-7e51-8bf0-783efd4419a7"

func TestParseSelector(t *testing.T) {
	for text, want := range map[string]selectorKind{
		someID: selectID, "01a1": selectPrefix, "0": selectPrefix, "01a1fddd-": selectPrefix,
		"01a1fddd-b7ba-7": selectPrefix,
		"last":            selectLast, "all": selectAll, "01..02": selectRange, "01..last": selectRange,
		"last..": selectRange, "01..": selectRange, "..02": selectRange, someID + ".." + someID: selectRange,
	} {
		if s, err := parseSelector(text); err != nil || s.kind != want || s.text != text {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{
		"", "..", "x", "01A1", "01a1-", "01a1fdddb", "-", "all..01", "01..last..", "01...02", "01..x", someID + "0",
		"01a1fddd_", "latest", " 01", "01 ",
	} {
		if s, err := parseSelector(text); err == nil {
			t.Errorf("%q is parsed as %+v", text, s)
		}
	}
}

func FuzzParseSelector(f *testing.F) {
	for _, s := range []string{someID, "01", "01..02", "..", "all", "last"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSelector(text)
		if err != nil {
			return
		}
		for _, begins := range []string{s.from, s.to} {
			if begins != "" && begins != lastWord && !isIDPrefix(begins) {
				t.Fatalf("%q: %+v", text, s)
			}
		}
		if s.kind == selectPrefix && !isIDPrefix(text) || s.kind == selectID && !isID(text) ||
			s.kind == selectRange && s.from+s.to == "" {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}

// The index is compared with a linear search.
func TestIndexAgreesWithALinearSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.SliceOfN(rapid.IntRange(0, 0x3f), 0, 20).Draw(t, "IDs")
		var jobs []*client.Job
		for _, d := range digits {
			jobs = append(jobs, &client.Job{
				ID: fmt.Sprintf("%02x", d) + someID[2:], Owner: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "owner"),
			})
		}
		x := newIndex(jobs)
		prefix := fmt.Sprintf("%02x", rapid.IntRange(0, 0x3f).Draw(t, "prefix"))[:rapid.IntRange(1, 2).Draw(t,
			"length")]
		fits := make(map[string]bool)
		for _, j := range jobs {
			if strings.HasPrefix(j.ID, prefix) {
				fits[j.ID] = true
			}
		}
		id, err := x.one(prefix)
		switch {
		case len(fits) == 1 && (err != nil || !fits[id]), len(fits) != 1 && err == nil:
			t.Fatalf("%q: %q, %v, fits %v", prefix, id, err, fits)
		case len(fits) > 1:
			if e, ok := errors.AsType[*ambiguousError](err); !ok || len(e.matches) != len(fits) {
				t.Fatalf("%q: %v", prefix, err)
			}
		}
		if len(x) < 2 {
			return
		}
		i := rapid.IntRange(0, len(x)-1).Draw(t, "from")
		k := rapid.IntRange(i, len(x)-1).Draw(t, "to")
		var want []string
		for _, j := range x {
			if j.ID >= x[i].ID && j.ID <= x[k].ID && j.Owner == "a" {
				want = append(want, j.ID)
			}
		}
		got, err := x.between(selector{from: x[i].ID, to: x[k].ID}, "a")
		if !cmp.Equal(got, want) || (err != nil) != (len(want) == 0) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	})
}

func TestAMovedJobIsListedOnce(t *testing.T) {
	x := newIndex([]*client.Job{
		{ID: someID, State: client.Gone, Epoch: 1}, {ID: someID, State: client.Waiting, Epoch: 2},
	})
	if len(x) != 1 || x[0].State != client.Waiting {
		t.Errorf("%+v", x)
	}
}

// A job of a site that does not answer could have the same prefix. This is harmless for commands
// that only show a job.
func TestPrefixesAreRefusedForChangesWhileASiteIsSilent(t *testing.T) {
	f := newFakeGrid(t)
	f.expect(t, cmdline.ExitUnavailable, ``,
		`site rennes does not answer and could have another job that begins with "01a1fd"\nhint: use the complete ID if it is this job: `+movingJob, "cancel", "01a1fd")
	f.expect(t, cmdline.ExitUnavailable, ``, `site rennes does not answer`, "move", "01a1fd", "nancy")
	f.expect(t, cmdline.ExitOK, movingJob, `no answer from site rennes`, "job", "01a1fd")
	f.expect(t, cmdline.ExitOK, `pending`, ``, "move", movingJob, "nancy")
}
