package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// demoCmd is a whole grid on this host for less than a minute.
//
//	drover demo ──┬── agent ◀─┬─ gossip ─┬── lyon ── services
//	   │ client   ├── lyon    ┘          │
//	   └──────────├── nancy ─────────────┤
//	              └── toulouse ──────────┘
//
// The agent and the sites are processes of the same program, which end when the
// pipe that is their standard input does: however the demo ends, they do too.
type demoCmd struct {
	Policy string `placeholder:"NAME" help:"dfrs: one site on this host whose jobs share processors, about a minute; shares are checked."`
	Seed   uint64 `default:"1" help:"Of the stream of requests: another seed, another stream."`
	Jobs   int    `placeholder:"N" help:"How many requests; default: 36, or 14 with --quick."`
	Quick  bool   `help:"Short requests, about ten seconds in all."`
	Keep   bool   `help:"Leave the grid up afterwards, until interrupted."`
	Out    string `placeholder:"DIR" type:"path" help:"Keep a picture and a solution that the grid has computed."`

	// What a member of the demo's grid is started with.
	Member string `hidden:"" enum:"agent,server," default:""`
	Config string `hidden:"" type:"path"`
}

// Bounds of the demo. A job's own bound is its walltime.
const (
	demoMostJobs = 1000
	demoSeed     = 1
	demoUp       = 15 * time.Second // for the processes to start, and to find each other
	demoPoll     = 50 * time.Millisecond
	demoLag      = time.Minute // from the last submission to the end of the last job
)

func (c *demoCmd) Run(a *app) error {
	if c.Member != "" {
		return c.member(a)
	}
	if err := c.check(); err != nil {
		return err
	}
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	ctx, cancel := context.WithCancelCause(a.ctx)
	defer cancel(nil)
	if c.Policy != "" {
		return c.share(ctx, cancel, a)
	}
	var slow float64
	g, err := startDemoGrid(ctx, cancel, threeSites(&slow))
	if err != nil {
		return err
	}
	err = c.show(ctx, a, g, slow)
	if e := g.stop(); err == nil {
		err = e
	}
	return err
}

// check refuses what makes no sense.
func (c *demoCmd) check() error {
	switch {
	case c.Jobs < 0 || c.Jobs > demoMostJobs:
		return &cmdline.UsageError{Message: fmt.Sprintf("--jobs %d, accepted: 1..%d, 0 for the demo's choice", c.Jobs, demoMostJobs)}
	case c.Policy == "":
		return nil
	case c.Policy != "dfrs":
		return &cmdline.UsageError{
			Message: fmt.Sprintf("--policy %q, accepted: dfrs", c.Policy),
			Hint:    "the demo without --policy has sites under cbf and easy",
		}
	case c.Jobs != 0 || c.Out != "" || c.Seed != demoSeed:
		return &cmdline.UsageError{Message: "--policy goes with --quick and --keep: --seed, --jobs and --out are of the demo of three sites"}
	}
	return nil
}

// show has the stream executed and tells what came of it.
func (c *demoCmd) show(ctx context.Context, a *app, g *demoGrid, slow float64) error {
	sum, closest, err := c.execute(ctx, a, g)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // a site that ended, or the user: not the calls that failed for it
	}
	if err != nil {
		return err
	}
	sum.Slowness = slow
	if err := c.tell(a, &sum, closest); err != nil {
		return err
	}
	if err := c.keep(ctx, a, g); err != nil {
		return err
	}
	if n := len(sum.Checks.Problems); n > 0 {
		return fmt.Errorf("%d of the demo's results are missing or wrong", n)
	}
	return nil
}

// keep leaves the grid up for as long as the user wants.
func (c *demoCmd) keep(ctx context.Context, a *app, g *demoGrid) error {
	if !c.Keep {
		return nil
	}
	hint := a.Stdout
	if a.flags.JSON {
		hint = a.Stderr // the summary stays all that stdout has
	}
	_, _ = fmt.Fprintf(hint, "\nthe grid stays up until Ctrl-C; to talk to it:\n  drover --agent %s queue\n", g.agent.url)
	<-ctx.Done()
	if a.ctx.Err() == nil {
		return context.Cause(ctx)
	}
	return nil
}

// execute runs the stream on a grid that has its sockets, and returns the
// summary and the job of the closest decision, if there is one.
func (c *demoCmd) execute(ctx context.Context, a *app, g *demoGrid) (sum demoSummary, closest *client.Job, err error) {
	grid, err := client.New(client.Default(g.agent.url))
	if err != nil {
		return sum, nil, err
	}
	a.client = grid // a closes it
	mode := demoFull
	if c.Quick {
		mode = demoQuick
	}
	if c.Jobs > 0 {
		mode.jobs = c.Jobs
	}
	stream := demoStream(c.Seed, mode)
	sites, err := awaitSites(ctx, grid, len(demoSites))
	if err != nil {
		return sum, nil, err
	}
	board := newDemoBoard(time.Now(), stream, sites)
	screen := newDemoScreen(a, board)
	err = play(ctx, grid, board, screen)
	screen.close(ctx, grid)
	if err != nil {
		return sum, nil, err
	}
	sum = summarize(board, c.Seed)
	if sum.Checks, err = checkResults(ctx, grid, board, c.Out); err != nil {
		return sum, nil, err
	}
	if closest = closestDecision(board); closest != nil {
		sum.ClosestJob = closest.ID
		sum.Decision = closest.Decision
	}
	return sum, closest, nil
}

// awaitSites watches the agent until it knows n sites.
func awaitSites(ctx context.Context, grid *client.Client, n int) ([]client.Site, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, demoUp, fmt.Errorf("the agent has not heard of %d sites within %v", n, demoUp))
	defer cancel()
	ticker := time.NewTicker(demoPoll)
	defer ticker.Stop()
	for {
		sites, err := grid.Sites(ctx)
		answering := !slices.ContainsFunc(sites, func(s client.Site) bool { return s.Status == nil })
		if err == nil && len(sites) >= n && answering {
			return sites, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// play submits the stream at its pace and follows every job to its end.
func play(ctx context.Context, grid *client.Client, board *demoBoard, screen *demoScreen) error {
	ctx, stop := context.WithCancelCause(ctx)
	var jobs, watcher sync.WaitGroup
	defer func() {
		stop(nil)
		jobs.Wait()
		watcher.Wait()
	}()
	watcher.Go(func() { screen.follow(ctx, grid) })
	for n := range board.stream {
		r := &board.stream[n]
		if err := until(ctx, board.start.Add(r.at)); err != nil {
			return err
		}
		job, err := grid.Submit(ctx, r.service, r.arguments()...)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			return fmt.Errorf("request %d, %s: %w", n+1, r.service, err)
		}
		screen.changed(n, job)
		jobs.Go(func() {
			_, err := grid.Watch(ctx, job.ID, func(j *client.Job) { screen.changed(n, j) })
			if err != nil {
				stop(fmt.Errorf("job %d, %s at %s: %w", n+1, r.service, job.Site, err))
			}
		})
	}
	late := time.AfterFunc(demoLag, func() { stop(fmt.Errorf("jobs are still there %v after the last submission", demoLag)) })
	defer late.Stop()
	jobs.Wait()
	return context.Cause(ctx)
}

// until waits for an instant, or for the end of ctx.
func until(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tell prints the summary, and why the job of the closest decision is where it is.
func (c *demoCmd) tell(a *app, sum *demoSummary, closest *client.Job) error {
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, sum)
	}
	if err := sum.print(a.Stdout); err != nil || closest == nil {
		return err
	}
	_, _ = fmt.Fprintf(a.Stdout, "\nThe closest decision (drover why %s):\n", closest.ID)
	return (&whyCmd{Job: closest.ID}).Run(a)
}
