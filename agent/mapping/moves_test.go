package mapping

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMergeMovesKeepsTheBestReportOfEachMove(t *testing.T) {
	reports := []MoveReport{
		// The target knows the gain, its clock is ahead.
		{Reporter: "s", From: "s", Job: "a", Epoch: 1, Ordered: 10, Settled: true},
		{Reporter: "t", From: "s", Job: "a", Epoch: 1, Ordered: 90, Settled: true, Realized: true},
		// The target does not know that it was aborted.
		{Reporter: "t", From: "s", Job: "a", Epoch: 2, Ordered: 25},
		{Reporter: "s", From: "s", Job: "a", Epoch: 2, Ordered: 20, Settled: true},
		// Both say the same: the source's word counts.
		{Reporter: "a", From: "s", Job: "b", Epoch: 1, Ordered: 29},
		{Reporter: "s", From: "s", Job: "b", Epoch: 1, Ordered: 30},
		// The source is silent.
		{Reporter: "t", From: "x", Job: "c", Epoch: 1, Ordered: 20},
		{Reporter: "u", From: "x", Job: "c", Epoch: 1, Ordered: 15, Settled: true},
	}
	want := []string{"b/1 s at 30", "a/2 s at 20", "c/1 u at 15", "a/1 t at 10"}
	for range 10 {
		var got []string
		for _, m := range MergeMoves(reports) {
			got = append(got, fmt.Sprintf("%s/%d %s at %d", m.Job, m.Epoch, m.Reporter, m.Place.Ordered))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		reports = append(reports[1:], reports[0])
	}
}

func TestPagesOfMovesFitTogetherWhileMovesAreAddedAndSettled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var reports []MoveReport
		add := func(ordered int64) {
			n := len(reports)
			reports = append(reports, MoveReport{
				Reporter: "s", From: "s", Job: fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "job")), Epoch: uint32(n),
				Ordered: ordered,
			})
		}
		n := rapid.IntRange(0, 20).Draw(t, "moves")
		for range n {
			add(int64(rapid.IntRange(0, 5).Draw(t, "ordered")))
		}
		var before, got []string
		name := func(m MergedMove) string { return fmt.Sprintf("%s/%d", m.Job, m.Epoch) }
		for _, m := range MergeMoves(slices.Clone(reports)) {
			before = append(before, name(m))
		}
		size := rapid.IntRange(1, 5).Draw(t, "page")
		var at *MovePosition
		for {
			page := MergeMoves(slices.Clone(reports))
			if at != nil {
				page = slices.DeleteFunc(page, func(m MergedMove) bool { return m.Place.Compare(*at) <= 0 })
			}
			page = page[:min(size, len(page))]
			if len(page) == 0 {
				break
			}
			for _, m := range page {
				got = append(got, name(m))
			}
			at = &page[len(page)-1].Place
			add(100) // a later move
			if i := rapid.IntRange(0, len(reports)-1).Draw(t, "settled"); true {
				reports[i].Settled = true
			}
		}
		// What was ordered while the pages were read may be on none of them.
		if strings.Join(got, " ") != strings.Join(before, " ") {
			t.Fatalf("got %v, want %v", got, before)
		}
	})
}
