package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// The demo of a policy that shares processors: one site on virtual nodes of this host.
//
//	long   ████████▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒░▒▒▒▒▒▒▒▒ ...   shares: 1, 1/2, 1/3, 1/4, 1/3
//	long           ▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒░▒▒▒▒▒▒▒▒ ...
//	long                   ▒▒▒▒▒▒▒▒░▒▒▒▒▒▒▒▒ ...
//	late                           ░               served at once
//	large                              ▒▒▒▒        others make place for its memory
const (
	sharedLook = 100 * time.Millisecond // between two looks at the site
	sharedLag  = 3 * time.Minute        // from the last submission to the end of the last job
)

// share shows how processors are shared on this host, and checks it.
func (c *demoCmd) share(ctx context.Context, cancel context.CancelCauseFunc, a *app) error {
	mode := sharedFull
	if c.Quick {
		mode = sharedQuick
	}
	var cost float64
	nodes := sharedNodes()
	g, err := startDemoGrid(ctx, cancel, sharedPlan(nodes, &cost))
	if err != nil {
		return err
	}
	err = c.showShared(ctx, a, g, mode.on(cost).requests(nodes, cost))
	if e := g.stop(); err == nil {
		err = e
	}
	return err
}

// showShared has the jobs executed and tells what came of it.
func (c *demoCmd) showShared(ctx context.Context, a *app, g *demoGrid, requests []sharedRequest) error {
	sum, err := executeShared(ctx, a, g, requests)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // a member that ended, or the user: not the calls that failed for it
	}
	if err != nil {
		return err
	}
	if a.flags.JSON {
		err = writeJSON(a.stdout, sum)
	} else {
		err = sum.print(a.stdout)
	}
	if err != nil {
		return err
	}
	if err := c.keep(ctx, a, g); err != nil {
		return err
	}
	if n := sum.failed(); n > 0 {
		return fmt.Errorf("%d of %d checks failed", n, len(sum.Checks))
	}
	return nil
}

// executeShared has the jobs executed and returns what came of it.
func executeShared(ctx context.Context, a *app, g *demoGrid, requests []sharedRequest) (*sharedView, error) {
	grid, err := client.New(client.Default(g.agent.url))
	if err != nil {
		return nil, err
	}
	a.client = grid // a closes it
	if _, err := awaitSites(ctx, grid, 1); err != nil {
		return nil, err
	}
	board := newSharedBoard(time.Now(), requests)
	screen := newDemoTerminal(a)
	err = playShared(ctx, grid, board, screen)
	screen.draw(func(rows int) []string { return board.frame(time.Now(), rows) })
	screen.end()
	if err != nil {
		return nil, err
	}
	found, err := resultsOf(ctx, grid, board)
	if err != nil {
		return nil, err
	}
	return summarizeShared(board, found), nil
}

// playShared submits the jobs when it is time, and follows them and the site to the end.
func playShared(ctx context.Context, grid *client.Client, board *sharedBoard, screen *demoTerminal) error {
	ctx, stop := context.WithCancelCause(ctx)
	var jobs, watcher sync.WaitGroup
	defer func() {
		stop(nil)
		jobs.Wait()
		watcher.Wait()
	}()
	say := func(news []string) {
		for _, line := range news {
			screen.say(line)
		}
		screen.draw(func(rows int) []string { return board.frame(time.Now(), rows) })
	}
	watcher.Go(func() {
		told := false
		err := grid.WatchSite(ctx, sharedName, sharedLook, func(u *client.SiteUse) (bool, error) {
			if !told {
				told = true
				screen.say(heldBy(waysOf(u.Capabilities)))
			}
			say(board.saw(u))
			return false, nil
		})
		if ctx.Err() == nil {
			stop(fmt.Errorf("watching the site: %w", err))
		}
	})
	ended := make(chan struct{}) // the late job
	for n := range board.jobs {
		r := &board.jobs[n].sharedRequest
		since := board.start
		if r.kind == kindLarge {
			select {
			case <-ended:
				since = time.Now()
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := until(ctx, since.Add(r.at)); err != nil {
			return err
		}
		board.ask(n)
		job, err := grid.Submit(ctx, r.service, r.args...)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			return fmt.Errorf("job %d, %s: %w", n+1, r.service, err)
		}
		say(board.changed(n, job))
		jobs.Go(func() {
			if _, err := grid.Watch(ctx, job.ID, func(j *client.Job) { say(board.changed(n, j)) }); err != nil {
				stop(fmt.Errorf("job %d, %s: %w", n+1, job.Service, err))
			}
			if r.kind == kindLate {
				close(ended)
			}
		})
	}
	late := time.AfterFunc(sharedLag, func() { stop(fmt.Errorf("jobs are still there %v after the last submission", sharedLag)) })
	defer late.Stop()
	jobs.Wait()
	return context.Cause(ctx)
}

// heldBy says what holds jobs to their shares on this host.
func heldBy(ways []string) string {
	text := "held by " + strings.Join(ways, " ")
	switch {
	case slices.Contains(ways, "shares=none"):
		text += ": nothing holds jobs to their shares here"
	case slices.Contains(ways, "shares=signals"):
		text += ": no control groups here, so jobs are stopped and continued by signals"
	}
	return text
}

// sharedResults are what the long jobs have found, by the number of the job, and what is wrong
// with the picture.
type sharedResults struct {
	primes  map[int]string
	picture error
}

// resultsOf downloads what the jobs have found.
func resultsOf(ctx context.Context, grid *client.Client, b *sharedBoard) (*sharedResults, error) {
	r := &sharedResults{primes: make(map[int]string)}
	for n := range b.jobs {
		j := &b.jobs[n]
		var out bytes.Buffer
		var err error
		switch j.kind {
		case kindLong:
			if err = grid.Logs(ctx, j.job.ID, client.LogOptions{}, &out); err == nil {
				r.primes[n] = lastWith(out.String(), "primes ")
			}
		case kindLarge:
			if err = grid.Download(ctx, j.job.ID, "image", &out); err == nil {
				err = new(demoChecksView).picture(&demoRequest{values: map[string]any{"columns": int64(largeColumns), "rows": int64(largeRows)}}, out.Bytes())
			}
			r.picture, err = err, nil
		}
		if err != nil {
			return nil, fmt.Errorf("result of job %d, %s: %w", n+1, j.service, err)
		}
	}
	return r, nil
}

// lastWith returns the last line that begins so, in single blanks; empty if there is none.
func lastWith(text, prefix string) (found string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			found = strings.Join(strings.Fields(line), " ")
		}
	}
	return found
}
