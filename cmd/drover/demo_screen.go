package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// demoBoard holds the state of the demo's grid. It shows times as seconds since its start.
type demoBoard struct {
	start  time.Time
	stream []demoRequest

	mu    sync.Mutex
	sites []client.Site
	jobs  []*client.Job // by the number of the request; nil before it is submitted
}

func newDemoBoard(start time.Time, stream []demoRequest, sites []client.Site) *demoBoard {
	return &demoBoard{start: start, stream: stream, sites: sites, jobs: make([]*client.Job, len(stream))}
}

// put stores a job, and reports whether it is new, and whether it has just ended.
func (b *demoBoard) put(n int, j *client.Job) (first, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.jobs[n]
	b.jobs[n] = j
	return old == nil, j.State.Final() && (old == nil || !old.State.Final())
}

func (b *demoBoard) putSites(sites []client.Site) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sites = sites
}

// since formats t as seconds since the start, "" for none.
func (b *demoBoard) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%.1f", t.Sub(b.start).Seconds())
}

func estimatedEnd(j *client.Job) time.Time { return j.Submitted.Add(j.EstimatedCompletion) }

// lateness returns by how many seconds a job ended after its estimate.
func lateness(j *client.Job) float64 { return j.Ended.Sub(estimatedEnd(j)).Seconds() }

// event returns a line about a job that is new or has ended.
func (b *demoBoard) event(n int, j *client.Job) string {
	what := fmt.Sprintf("#%-3d %-10s at %-8s on %d", n+1, j.Service, j.Site, j.Shape.Width)
	if !j.State.Final() {
		return fmt.Sprintf("%6ss  %s  estimated end %ss (%s)", b.since(j.Submitted), what, b.since(estimatedEnd(j)),
			j.EstimateKind)
	}
	text := fmt.Sprintf("%6ss  %s  %s after %.1fs of waiting, %+.1fs from the estimate",
		b.since(j.Ended), what, j.State, j.Started.Sub(j.Submitted).Seconds(), lateness(j))
	if j.State != client.Done {
		text += ": " + j.Outcome.Reason
	}
	return text
}

// frame returns the lines of the live table, at most height of them.
func (b *demoBoard) frame(now time.Time, height int) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	submitted, ended := 0, 0
	for _, j := range b.jobs {
		if j != nil {
			submitted++
			if j.State.Final() {
				ended++
			}
		}
	}
	lines := []string{fmt.Sprintf("%5.1fs  %d of %d requests submitted, %d ended", now.Sub(b.start).Seconds(),
		submitted, len(b.jobs), ended), ""}
	lines = append(lines, b.siteLines()...)
	lines = append(lines, "")
	if room := height - len(lines) - 1; room > 0 { // a line for the header
		lines = append(lines, b.jobLines(room)...)
	}
	return lines[:min(len(lines), max(height, 0))]
}

func (b *demoBoard) siteLines() []string {
	t := cmdline.NewTable(io.Discard, table.Row{"site", "policy", "speed", "processors", "running", "waiting", "load"},
		"speed", "processors", "running", "waiting", "load")
	for i := range b.sites {
		s := &b.sites[i]
		row := table.Row{s.Name, s.Policy, s.Speed, s.Processors, "-", "-", "-"}
		if q := s.Status; q != nil {
			row = append(row[:4], q.Running, q.Waiting, fmt.Sprintf("%.0f%%", 100*q.Load))
		}
		t.AppendRow(row)
	}
	return strings.Split(t.Render(), "\n")
}

// jobLines returns a header and at most room jobs in the order of submission: the active
// ones, then those that ended last.
func (b *demoBoard) jobLines(room int) []string {
	var shown, over []int
	for n, j := range b.jobs {
		switch {
		case j == nil:
		case j.State.Final():
			over = append(over, n)
		default:
			shown = append(shown, n)
		}
	}
	shown = shown[:min(len(shown), room)]
	slices.SortStableFunc(over, func(i, k int) int { return b.jobs[k].Ended.Compare(b.jobs[i].Ended) })
	shown = append(shown, over[:min(len(over), room-len(shown))]...)
	slices.Sort(shown)
	t := cmdline.NewTable(io.Discard, table.Row{
		"job", "service", "site", "width", "state", "estimated", "actual", "error", "estimate",
	},
		"job", "width", "estimated", "actual", "error")
	for _, n := range shown {
		j := b.jobs[n]
		late := ""
		if j.State.Final() {
			late = fmt.Sprintf("%+.1f", lateness(j))
		}
		t.AppendRow(table.Row{
			n + 1, j.Service, j.Site, j.Shape.Width, j.State, b.since(estimatedEnd(j)), b.since(j.Ended), late,
			j.EstimateKind,
		})
	}
	return strings.Split(t.Render(), "\n")
}

// leastMargin is the smallest margin that a table with tenths of a second shows.
const leastMargin = 100 * time.Millisecond

// closestDecision returns the job with the smallest margin between the best two sites,
// among those that found a queue; nil if there is none.
func closestDecision(b *demoBoard) *client.Job {
	var best *client.Job
	var least time.Duration
	for _, j := range b.jobs {
		if j == nil || j.Decision == nil {
			continue
		}
		queued, margin := false, time.Duration(0)
		for _, c := range j.Decision.Candidates { // the best first
			if c.Missing != nil {
				continue
			}
			queued = queued || c.Wait > c.Transfer
			if margin == 0 && c.Site != j.Decision.Chosen {
				margin = c.Margin
			}
		}
		if queued && margin >= leastMargin && (best == nil || margin < least) {
			best, least = j, margin
		}
	}
	return best
}

// demoScreen shows the board on stderr while the stream runs: a table that is redrawn in
// place on a terminal, otherwise a line per event, and nothing with --json.
type demoScreen struct {
	*demoTerminal
	board *demoBoard
}

const demoFrame = 250 * time.Millisecond

func newDemoScreen(a *app, b *demoBoard) *demoScreen { return &demoScreen{newDemoTerminal(a), b} }

// changed stores the new state of a job.
func (s *demoScreen) changed(n int, j *client.Job) {
	first, last := s.board.put(n, j)
	if first && last { // it ended before the first look
		was := *j
		was.State = client.Waiting
		s.say(s.board.event(n, &was))
	}
	if first || last {
		s.say(s.board.event(n, j))
	}
}

// follow draws until ctx ends.
func (s *demoScreen) follow(ctx context.Context, grid *client.Client) {
	if !s.live {
		return
	}
	ticker := time.NewTicker(demoFrame)
	defer ticker.Stop()
	for {
		s.look(ctx, grid)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// look asks for the state of the sites and draws it.
func (s *demoScreen) look(ctx context.Context, grid *client.Client) {
	if sites, err := grid.Sites(ctx); err == nil {
		s.board.putSites(sites)
	}
	s.draw(func(rows int) []string { return s.board.frame(time.Now(), rows) })
}

// close draws the final state.
func (s *demoScreen) close(ctx context.Context, grid *client.Client) {
	if s.live {
		s.look(ctx, grid)
	}
	s.end()
}

// demoTerminal shows frames that overwrite one another on a terminal, otherwise lines, and
// nothing with --json.
type demoTerminal struct {
	w     io.Writer
	live  bool
	quiet bool

	mu    sync.Mutex // of w
	drawn int        // lines of the last frame
}

// The size of a terminal that does not report it.
const defaultColumns, defaultRows = 80, 24

func newDemoTerminal(a *app) *demoTerminal {
	return &demoTerminal{w: a.Stderr, live: a.Terminal && !a.flags.JSON, quiet: a.flags.JSON}
}

// say writes a line if there are no frames.
func (t *demoTerminal) say(line string) {
	if t.live || t.quiet {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintln(t.w, line)
}

// draw overwrites the last frame, if there are frames.
func (t *demoTerminal) draw(frame func(rows int) []string) {
	if !t.live {
		return
	}
	columns, rows := t.size()
	lines := frame(rows - 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.w, overwrite(t.drawn, lines, columns))
	t.drawn = len(lines)
}

// end separates the frames from what follows.
func (t *demoTerminal) end() {
	if !t.quiet {
		_, _ = fmt.Fprintln(t.w)
	}
}

func (t *demoTerminal) size() (columns, rows int) {
	if f, ok := t.w.(interface{ Fd() uintptr }); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return defaultColumns, defaultRows
}

// overwrite returns the control sequences that replace the drawn lines by new ones, cut to
// the width of the terminal.
func overwrite(drawn int, lines []string, columns int) string {
	var b strings.Builder
	if drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", drawn)
	}
	for _, l := range lines {
		b.WriteString("\r" + text.Trim(l, columns) + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	return b.String()
}
