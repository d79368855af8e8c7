package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// sharedBoard holds the state of the demo of shared processors. It shows times as seconds
// since its start.
type sharedBoard struct {
	start time.Time

	mu      sync.Mutex
	jobs    []sharedJob
	use     *client.SiteUse // the last
	others  otherMeter
	least   []leastShare
	printed string // the shares that were printed last
	likely  string // those that were seen last
	news    []string
}

// sharedJob is a job of the demo with its observed history.
type sharedJob struct {
	sharedRequest
	asked   time.Time   // when it was sent
	served  time.Time   // when it was first seen to run
	job     *client.Job // nil before it is submitted
	nodes   []string
	attempt int
	stops   int // at a checkpoint, or frozen
	moves   int
	frozen  bool
	meter   shareMeter
}

// leastShare is the least share of a long job that ran at an instant.
type leastShare struct {
	at    time.Time
	share float64
}

func newSharedBoard(start time.Time, requests []sharedRequest) *sharedBoard {
	b := &sharedBoard{start: start, others: otherMeter{busy: hostBusy}}
	for _, r := range requests {
		b.jobs = append(b.jobs, sharedJob{sharedRequest: r})
	}
	return b
}

// tell stores a line of news and returns it.
func (b *sharedBoard) tell(at time.Time, format string, args ...any) string {
	line := fmt.Sprintf("%6.1fs  ", at.Sub(b.start).Seconds()) + fmt.Sprintf(format, args...)
	b.news = append(b.news, line)
	return line
}

// name returns the demo's name of a job.
func (b *sharedBoard) name(n int) string {
	return fmt.Sprintf("#%-3d %-5s", n+1, b.jobs[n].kind)
}

// changed stores the new state of a job and returns the lines to print about it.
func (b *sharedBoard) changed(n int, now *client.Job) (news []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := &b.jobs[n]
	was := j.job
	j.job = now
	if was == nil {
		news = append(news, b.tell(j.asked, "%s  %s is sent", b.name(n), now.Service))
		was = &client.Job{}
	}
	if now.Checkpoints > was.Checkpoints {
		j.stops += now.Checkpoints - was.Checkpoints
		j.meter.gone()
		news = append(news, b.tell(time.Now(), "%s  preempted: stopped at a checkpoint after %s of work", b.name(n),
			cmdline.Span(now.CheckpointedAfter)))
	}
	switch {
	case now.State == client.Running && now.Attempt != j.attempt:
		j.attempt = now.Attempt
		if j.served.IsZero() {
			j.served = time.Now()
			news = append(news, b.tell(j.served, "%s  runs on %s, %.3fs after it was sent", b.name(n),
				strings.Join(now.Nodes, ","), j.wait().Seconds()))
		} else {
			news = append(news, b.tell(time.Now(), "%s  continues from its checkpoint on %s", b.name(n),
				strings.Join(now.Nodes, ",")))
		}
	case now.State.Final() && !was.State.Final():
		if j.served.IsZero() && !now.Started.IsZero() { // it ended before the first look
			j.served = time.Now()
		}
		j.meter.gone()
		text := fmt.Sprintf("%s after %s", now.State, cmdline.Span(now.Ended.Sub(now.Submitted)))
		if now.State != client.Done {
			text += ": " + now.Outcome.Reason
		}
		news = append(news, b.tell(time.Now(), "%s  %s", b.name(n), text))
	}
	return news
}

// ask stores when a job is sent.
func (b *sharedBoard) ask(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs[n].asked = time.Now()
}

// wait returns the time from sending a job until it was first seen running.
func (j *sharedJob) wait() time.Duration { return j.served.Sub(j.asked) }

// saw stores the use of the site.
func (b *sharedBoard) saw(u *client.SiteUse) (news []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.use = u
	b.others.see(u.Jobs)
	var shares []string
	least := leastShare{at: u.At}
	for n := range b.jobs {
		j := &b.jobs[n]
		if j.job == nil || j.job.State.Final() {
			continue
		}
		i := slices.IndexFunc(u.Jobs, func(x client.JobUse) bool { return x.ID == j.job.ID })
		if i < 0 {
			j.meter.gone()
			continue
		}
		has := &u.Jobs[i]
		j.meter.see(u.At, has)
		news = append(news, b.placed(n, has, u.At)...)
		if has.Paused || has.Share == 0 {
			continue
		}
		shares = append(shares, fmt.Sprintf("#%d %.3f", n+1, has.Share))
		if j.kind == kindLong && (least.share == 0 || has.Share < least.share) {
			least.share = has.Share
		}
	}
	if least.share > 0 {
		b.least = append(b.least, least)
	}
	// Print shares only when two looks agree: others are on their way to the next state.
	now := strings.Join(shares, "  ")
	if now != b.printed && now == b.likely && now != "" {
		b.printed = now
		news = append(news, b.tell(u.At, "shares  %s", now))
	}
	b.likely = now
	return news
}

// placed compares the nodes of a job with its last ones.
func (b *sharedBoard) placed(n int, has *client.JobUse, at time.Time) (news []string) {
	j := &b.jobs[n]
	if has.Paused && !j.frozen {
		j.stops++
		news = append(news, b.tell(at, "%s  is paused", b.name(n)))
	}
	if j.frozen && !has.Paused {
		news = append(news, b.tell(at, "%s  continues", b.name(n)))
	}
	j.frozen = has.Paused
	if len(has.Nodes) > 0 && !slices.Equal(j.nodes, has.Nodes) {
		if j.nodes != nil {
			j.moves++
			news = append(news, b.tell(at, "%s  has moved from %s to %s", b.name(n), strings.Join(j.nodes, ","),
				strings.Join(has.Nodes, ",")))
		}
		j.nodes = has.Nodes
	}
	return news
}

// frame returns the lines of the live table at an instant, at most height of them: what
// drover top shows, with the demo's names of jobs, and the last news.
func (b *sharedBoard) frame(now time.Time, height int) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	submitted, ended := 0, 0
	for n := range b.jobs {
		if j := b.jobs[n].job; j != nil {
			submitted++
			if j.State.Final() {
				ended++
			}
		}
	}
	lines := []string{fmt.Sprintf("%5.1fs  %d of %d jobs submitted, %d ended", now.Sub(b.start).Seconds(), submitted,
		len(b.jobs), ended), ""}
	if b.use != nil {
		var text bytes.Buffer
		writeSiteUse(&text, sharedName, b.named())
		lines = append(lines, strings.Split(strings.TrimRight(text.String(), "\n"), "\n")...)
		lines = append(lines, "")
	}
	if room := height - len(lines); room > 0 {
		lines = append(lines, b.news[max(0, len(b.news)-room):]...)
	}
	return lines[:min(len(lines), max(height, 0))]
}

// named returns the use of the site with the demo's names of jobs.
func (b *sharedBoard) named() *client.SiteUse {
	u := *b.use
	u.Jobs = slices.Clone(u.Jobs)
	for i := range u.Jobs {
		n := slices.IndexFunc(b.jobs, func(j sharedJob) bool { return j.job != nil && j.job.ID == u.Jobs[i].ID })
		if n >= 0 {
			u.Jobs[i].ID = fmt.Sprintf("#%d %s", n+1, b.jobs[n].kind)
		}
	}
	return &u
}
