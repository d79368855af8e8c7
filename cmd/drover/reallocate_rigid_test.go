package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// TestARigidJobMovesOnlyToASiteItFits has jobs of one and of two processors. Only the jobs of one
// processor move to a site with one processor.
func TestARigidJobMovesOnlyToASiteItFits(t *testing.T) {
	g := startGridOf(t, map[string]string{
		"lyon": "nodes: [{processors: 2}]\npolicy: {name: cbf}\n", "nancy": narrow["nancy"],
	})
	c, err := client.New(client.Default(g.agent))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	g.must(t, cmdline.ExitOK, "drain", "nancy")
	g.must(t, cmdline.ExitOK, "submit", "sleep", "seconds=600", "processors=2")
	width := make(map[string]int)
	for i := range 6 {
		arg := []string{"processors=2", "processors=1"}[i%2]
		width[g.must(t, cmdline.ExitOK, "submit", "sleep", "seconds=300", arg)] = 2 - i%2
	}
	g.must(t, cmdline.ExitOK, "resume", "nancy")
	for _, flags := range [][]string{
		{"--dry-run", "--heuristic", "mct"},
		{"--dry-run", "--heuristic", "sufferage", "--window", "all"},
		{"--dry-run", "--algorithm", "all-cancellation", "--heuristic", "maxmin", "--window", "all"},
		{"--algorithm", "all-cancellation", "--heuristic", "minmin", "--window", "all"},
	} {
		r := g.reallocate(t, append(flags, "--threshold", "0s")...)
		if r.GetRecord().GetMoves() == 0 || r.GetRecord().GetFailed() > 0 || len(r.Missing) > 0 {
			t.Errorf("%v: %+v", flags, r)
		}
		for _, j := range r.GetJobs() {
			if w := width[j.GetJobId()]; j.GetTo() == "nancy" && w != 1 || int(j.GetAfter().GetWidth()) != w {
				t.Errorf("%v: %+v", flags, j)
			}
		}
	}
	want, got := make(map[string]bool), make(map[string]bool)
	for id, w := range width {
		j, err := c.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if w == 2 {
			want[id], got[id] = true, j.Site == "lyon" && j.State == client.Waiting && len(j.Moves) == 0
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("wide jobs that wait at lyon: %s", d)
	}
}
