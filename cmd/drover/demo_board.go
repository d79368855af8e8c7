package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
)

// demoBoard is what the demo knows of its grid. Times in what it shows are
// seconds since its start.
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

// put notes a job, and says whether that is the first of it, or the end.
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

// since returns t as the demo shows it, "" for none.
func (b *demoBoard) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%.1f", t.Sub(b.start).Seconds())
}

func estimatedEnd(j *client.Job) time.Time { return j.Submitted.Add(j.EstimatedCompletion) }

// lateness returns by how many seconds a job ended after its estimate.
func lateness(j *client.Job) float64 { return j.Ended.Sub(estimatedEnd(j)).Seconds() }

// event is a line about a job that is new, or has ended.
func (b *demoBoard) event(n int, j *client.Job) string {
	what := fmt.Sprintf("#%-3d %-10s at %-8s on %d", n+1, j.Service, j.Site, j.Shape.Width)
	if !j.State.Final() {
		return fmt.Sprintf("%6ss  %s  estimated end %ss (%s)", b.since(j.Submitted), what, b.since(estimatedEnd(j)), j.EstimateKind)
	}
	text := fmt.Sprintf("%6ss  %s  %s after %.1fs of waiting, %+.1fs from the estimate",
		b.since(j.Ended), what, j.State, j.Started.Sub(j.Submitted).Seconds(), lateness(j))
	if j.State != client.Done {
		text += ": " + j.Outcome.Reason
	}
	return text
}

// frame returns the lines of the live table at an instant, at most height of
// them.
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
	lines := []string{fmt.Sprintf("%5.1fs  %d of %d requests submitted, %d ended", now.Sub(b.start).Seconds(), submitted, len(b.jobs), ended), ""}
	lines = append(lines, b.siteLines()...)
	lines = append(lines, "")
	if room := height - len(lines) - 1; room > 0 { // one for the header
		lines = append(lines, b.jobLines(room)...)
	}
	return lines[:min(len(lines), max(height, 0))]
}

func (b *demoBoard) siteLines() []string {
	t := newTable(io.Discard, table.Row{"site", "policy", "speed", "processors", "running", "waiting", "load"},
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

// jobLines returns a header and at most room jobs: those that have not ended,
// and the last that have, in the order of submission.
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
	t := newTable(io.Discard, table.Row{"job", "service", "site", "width", "state", "estimated", "actual", "error", "estimate"},
		"job", "width", "estimated", "actual", "error")
	for _, n := range shown {
		j := b.jobs[n]
		late := ""
		if j.State.Final() {
			late = fmt.Sprintf("%+.1f", lateness(j))
		}
		t.AppendRow(table.Row{n + 1, j.Service, j.Site, j.Shape.Width, j.State, b.since(estimatedEnd(j)), b.since(j.Ended), late, j.EstimateKind})
	}
	return strings.Split(t.Render(), "\n")
}

// leastMargin is what a table with tenths of a second still shows.
const leastMargin = 100 * time.Millisecond

// closestDecision returns the job whose site was chosen by the smallest margin,
// among those for which a queue mattered; nil if all were clear or toss-ups.
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
