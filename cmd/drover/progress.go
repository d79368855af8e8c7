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

// progress is one line on a terminal that is written anew with each change. Where
// stderr is no terminal, and with --json and --quiet, there is none.
type progress struct {
	app  *app
	told string // ID of the new attempt that was told of last

	mu    sync.Mutex
	shown bool
	next  time.Time // not before this is what comes often shown again
}

// progressPause is the least time between two changes of a line that changes often.
const progressPause = 100 * time.Millisecond

// line writes the line anew.
func (p *progress) line(format string, args ...any) {
	if !p.app.Terminal || p.app.flags.JSON || p.app.flags.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	text := []rune(fmt.Sprintf(format, args...))
	if n := p.app.Columns(); n > 1 && len(text) >= n { // what wraps could not be cleared
		text = text[:n-1]
	}
	_, _ = fmt.Fprintf(p.app.Stderr, "\r\x1b[K%s", string(text))
}

// often is line for what comes often.
func (p *progress) often(format string, args ...any) {
	p.mu.Lock()
	now := time.Now()
	soon := now.Before(p.next)
	if !soon {
		p.next = now.Add(progressPause)
	}
	p.mu.Unlock()
	if !soon {
		p.line(format, args...)
	}
}

// clear takes the line away.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		_, _ = fmt.Fprint(p.app.Stderr, "\r\x1b[K")
	}
}

// show tells of a job.
func (p *progress) show(j *client.Job) {
	p.anew(j)
	p.line("%s at %s, %s: %s%s", j.ID, j.Site, processors(j.Shape.Width), stateOf(j), expectedOf(j, time.Now()))
}

// expectedOf says when a job should end. Its clock is that of its site, ours may differ.
func expectedOf(j *client.Job, now time.Time) string {
	if len(j.Awaits) > 0 {
		return ", " + awaitsOf(j)
	}
	if j.State.Final() || j.EstimateKind == "" || j.Submitted.IsZero() {
		return ""
	}
	end := j.Submitted.Add(j.EstimatedCompletion)
	if !j.Started.IsZero() { // what the estimate said of its run
		end = j.Started.Add(j.EstimatedCompletion - j.EstimatedWait)
	}
	if end.Before(now) {
		return fmt.Sprintf(", %s to end at %s, which has passed", j.EstimateKind, clock(end))
	}
	return fmt.Sprintf(", %s to end at %s, in %s", j.EstimateKind, soon(now, end.Sub(now)), cmdline.Span(end.Sub(now).Round(time.Second)))
}

// sending tells of an upload.
func (p *progress) sending(name string, sent, size int64) {
	share := 100.0
	if size > 0 {
		share = 100 * float64(sent) / float64(size)
	}
	p.often("sending %s: %.0f%% of %s", name, share, bytesOf(size))
}

// bytesOf returns a size for people.
func bytesOf(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d %s", n, units[0])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// anew tells of a job that was started in place of another one.
func (p *progress) anew(j *client.Job) {
	if j.RetryOf == "" || j.ID == p.told {
		return
	}
	p.clear()
	p.told = j.ID
	_, _ = fmt.Fprintf(p.app.Stderr, "drover: nobody can say what became of job %s: started anew as job %s at site %s\n", j.RetryOf, j.ID, j.Site)
}

// mayBe returns the ID of a job that may have been accepted, "" if the error tells of
// none.
func mayBe(err error) string {
	if u, ok := errors.AsType[*submission.UnknownError](err); ok {
		return u.Job
	}
	return ""
}

func processors(n int) string { return plural(n, "processor") }

// plural counts things for people.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
