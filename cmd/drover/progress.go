package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// progress is one line on a terminal that is overwritten with each change. It shows
// nothing if stderr is no terminal, and with --json and --quiet.
type progress struct {
	app       *app
	announced string // ID of the last retry that was printed

	mu    sync.Mutex
	shown bool
	next  time.Time // throttled shows nothing before
}

// progressInterval is the shortest time between two changes of a throttled line.
const progressInterval = 100 * time.Millisecond

// line overwrites the line.
func (p *progress) line(format string, args ...any) {
	if !p.app.Terminal || p.app.flags.JSON || p.app.flags.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	text := []rune(fmt.Sprintf(format, args...))
	if n := p.app.Columns(); n > 1 && len(text) >= n { // a line that wraps could not be cleared
		text = text[:n-1]
	}
	_, _ = fmt.Fprintf(p.app.Stderr, "\r\x1b[K%s", string(text))
}

// throttled is line for frequent changes.
func (p *progress) throttled(format string, args ...any) {
	p.mu.Lock()
	now := time.Now()
	early := now.Before(p.next)
	if !early {
		p.next = now.Add(progressInterval)
	}
	p.mu.Unlock()
	if !early {
		p.line(format, args...)
	}
}

// clear removes the line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		_, _ = fmt.Fprint(p.app.Stderr, "\r\x1b[K")
	}
}

// job shows the state of a job.
func (p *progress) job(j *client.Job) {
	p.retried(j)
	p.line("%s at %s, %s: %s%s", j.ID, j.Site, processors(j.Shape.Width), stateText(j), endText(j, time.Now()))
}

// endText says when a job should end. The job's times are on the clock of its site, which
// can differ from ours.
func endText(j *client.Job, now time.Time) string {
	if len(j.Awaits) > 0 {
		return ", " + awaitsText(j)
	}
	if j.State.Final() || j.EstimateKind == "" || j.Submitted.IsZero() {
		return ""
	}
	end := j.Submitted.Add(j.EstimatedCompletion)
	if !j.Started.IsZero() { // only the run is still estimated
		end = j.Started.Add(j.EstimatedCompletion - j.EstimatedWait)
	}
	if end.Before(now) {
		return fmt.Sprintf(", %s to end at %s, which has passed", j.EstimateKind, clock(end))
	}
	return fmt.Sprintf(", %s to end at %s, in %s", j.EstimateKind, soon(now, end.Sub(now)),
		cmdline.Span(end.Sub(now).Round(time.Second)))
}

// sending shows the progress of an upload in bytes.
func (p *progress) sending(name string, sent, size int64) {
	share := 100.0
	if size > 0 {
		share = 100 * float64(sent) / float64(size)
	}
	p.throttled("sending %s: %.0f%% of %s", name, share, bytesText(size))
}

// retried prints once that a job was started as a new attempt of a lost one.
func (p *progress) retried(j *client.Job) {
	if j.RetryOf == "" || j.ID == p.announced {
		return
	}
	p.clear()
	p.announced = j.ID
	_, _ = fmt.Fprintf(p.app.Stderr, "drover: the state of job %s is unknown: submitted again as job %s at site %s\n",
		j.RetryOf, j.ID, j.Site)
}

// possibleJob returns the ID of a job that may have been accepted although its submission
// failed, "" for none.
func possibleJob(err error) string {
	if u, ok := errors.AsType[*submission.UnknownError](err); ok {
		return u.Job
	}
	return ""
}
