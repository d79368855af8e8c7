package main

import (
	"strings"
	"testing"
)

// must runs a command line on a grid and returns what it prints.
func (g *grid) must(t *testing.T, code int, args ...string) string {
	t.Helper()
	p, out, told := inProcess(g, args...)
	p.terminal = false
	if got := run(p); got != code {
		t.Fatalf("drover %s exits with %d: %s%s", strings.Join(args, " "), got, out, told.buf.String())
	}
	return strings.TrimSpace(out.String())
}

// TestOperatorsMoveAndDrainJobsOfARealGrid orders by hand what agents order by
// themselves.
func TestOperatorsMoveAndDrainJobsOfARealGrid(t *testing.T) {
	g := startGrid(t)
	job := g.must(t, exitOK, "submit", "sleep", "seconds=1", "--begin", "1h")
	from, to := "lyon", "nancy"
	if strings.Contains(g.must(t, exitOK, "--json", "job", job), `"site": "nancy"`) {
		from, to = to, from
	}
	if got, want := g.must(t, exitOK, "move", job, to, "--wait"), job+": from "+from+" to "+to+", moved"; got != want {
		t.Errorf("move prints %q, want %q", got, want)
	}
	shown := g.must(t, exitOK, "job", job)
	if !strings.Contains(shown, "from "+from+" to "+to+": by hand") {
		t.Errorf("the job is %s", shown)
	}
	if got := g.must(t, exitRefused, "move", job, to); got != "" {
		t.Errorf("a move to where it is prints %q", got)
	}
	if got := g.must(t, exitOK, "drain", to, "--wait"); !strings.HasPrefix(got, to+" takes no new jobs: ") || !strings.HasSuffix(got, ", 0 waiting") {
		t.Errorf("drain prints %q", got)
	}
	if shown := g.must(t, exitOK, "queue", "--site", from); !strings.Contains(shown, job) || !strings.Contains(shown, "moved 2 times") {
		t.Errorf("the queue of %s is %s", from, shown)
	}
	if shown := g.must(t, exitOK, "sites"); !strings.Contains(shown, "draining") {
		t.Errorf("the sites are %s", shown)
	}
	if shown := g.must(t, exitOK, "moves", "--job", job, "--state", "moved"); strings.Count(shown, job) != 2 || !strings.Contains(shown, "drain") {
		t.Errorf("the moves are %s", shown)
	}
	if got := g.must(t, exitOK, "resume", to); !strings.HasPrefix(got, to+" takes jobs: ") {
		t.Errorf("resume prints %q", got)
	}
	if got := g.must(t, exitOK, "cancel", job); got != "cancelled" && got != "cancelling" {
		t.Errorf("cancel prints %q", got)
	}
	g.must(t, exitCancelled, "wait", job)
	g.must(t, exitNotFound, "drain", "paris")
	g.must(t, exitUsage, "resolve", job, "take-back", "--at", from, "--epoch", "1")
	g.must(t, exitRefused, "resolve", job, "take-back", "--at", from, "--epoch", "1", "--yes")
}

// Who has been promised processors at a site that is drained does not go elsewhere. This
// has a grid of its own: scripts side by side count on both sites.
func TestWhoWaitsInAReservationStaysWhenItsSiteIsDrained(t *testing.T) {
	g := startGrid(t)
	talk := g.must(t, exitOK, "reserve", "--width", "8", "--duration", "10m", "--from", "90m")
	g.must(t, exitOK, "submit", "sleep", "seconds=60", "--into", talk)
	p, _, told := inProcess(g, "drain", "lyon")
	if code := run(p); code != exitOK || !strings.Contains(told.buf.String(), "1 of those that wait stay") {
		t.Errorf("drain exits with %d and tells %q", code, told.buf.String())
	}
}
