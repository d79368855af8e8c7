package main

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// must runs a command line on a grid, requires its exit code, and returns its output.
func (g *grid) must(t *testing.T, code int, args ...string) string {
	t.Helper()
	got, out, stderr := g.try(args...)
	if got != code {
		t.Fatalf("drover %s: exit code %d: %s%s", strings.Join(args, " "), got, out, stderr)
	}
	return strings.TrimSpace(out)
}

// try runs a command and returns its exit code and its outputs.
func (g *grid) try(args ...string) (code int, stdout, stderr string) {
	p, out, errors := inProcess(g, args...)
	p.Terminal = false
	code = run(p)
	return code, out.String(), errors.buf.String()
}

// TestMoveDrainAndResolveOnARealGrid gives the orders that agents usually give.
func TestMoveDrainAndResolveOnARealGrid(t *testing.T) {
	g := startGrid(t)
	job := g.must(t, cmdline.ExitOK, "submit", "sleep", "seconds=1", "--begin", "1h")
	from, to := "lyon", "nancy"
	if g.shown(t, job).GetSite() == "nancy" {
		from, to = to, from
	}
	if got, want := g.must(t, cmdline.ExitOK, "move", job, to, "--wait"),
		job+": from "+from+" to "+to+", moved"; got != want {
		t.Errorf("move prints %q, want %q", got, want)
	}
	shown := g.must(t, cmdline.ExitOK, "job", job)
	if !strings.Contains(shown, "from "+from+" to "+to+": by hand") {
		t.Errorf("the job is %s", shown)
	}
	if got := g.must(t, cmdline.ExitRefused, "move", job, to); got != "" {
		t.Errorf("a move to the job's own site prints %q", got)
	}
	if got := g.must(t, cmdline.ExitOK, "drain", to, "--wait"); !strings.HasPrefix(got, to+" accepts no new jobs: ") ||
		!strings.HasSuffix(got, ", 0 waiting") {
		t.Errorf("drain prints %q", got)
	}
	if shown := g.must(t, cmdline.ExitOK, "queue", "--site", from); !strings.Contains(shown, job) ||
		!strings.Contains(shown, "moved 2 times") {
		t.Errorf("the queue of %s is %s", from, shown)
	}
	if shown := g.must(t, cmdline.ExitOK, "sites"); !strings.Contains(shown, "draining") {
		t.Errorf("the sites are %s", shown)
	}
	if shown := g.must(t, cmdline.ExitOK, "moves", "--job", job, "--state", "moved"); strings.Count(shown, job) != 2 ||
		!strings.Contains(shown, "drain") {
		t.Errorf("the moves are %s", shown)
	}
	if got := g.must(t, cmdline.ExitOK, "resume", to); !strings.HasPrefix(got, to+" accepts jobs: ") {
		t.Errorf("resume prints %q", got)
	}
	if got := g.must(t, cmdline.ExitOK, "cancel", job); got != "cancelled" && got != "cancelling" {
		t.Errorf("cancel prints %q", got)
	}
	g.must(t, cmdline.ExitCancelled, "wait", job)
	g.must(t, cmdline.ExitNotFound, "drain", "paris")
	g.must(t, cmdline.ExitUsage, "settle", job, "take-back", "--at", from, "--epoch", "1")
	g.must(t, cmdline.ExitRefused, "settle", job, "take-back", "--at", from, "--epoch", "1", "--yes")
}

// Jobs in a reservation stay at a drained site. The test has its own grid, because parallel
// scripts need both sites.
func TestJobsInAReservationStayAtADrainedSite(t *testing.T) {
	g := startGrid(t)
	talk := g.must(t, cmdline.ExitOK, "reserve", "--width", "8", "--duration", "10m", "--from", "90m")
	g.must(t, cmdline.ExitOK, "submit", "sleep", "seconds=60", "--into", talk)
	p, _, stderr := inProcess(g, "drain", "lyon")
	if code := run(p); code != cmdline.ExitOK || !strings.Contains(stderr.buf.String(), "1 waiting jobs stay") {
		t.Errorf("drain: exit code %d, stderr %q", code, stderr.buf.String())
	}
}
