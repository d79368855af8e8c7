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

// demoCmd runs a whole grid on this host for less than a minute.
//
//	drover demo ──┬── agent ◀─┬─ gossip ─┬── lyon ── services
//	   │ client   ├── lyon    ┘          │
//	   └──────────├── nancy ─────────────┤
//	              └── toulouse ──────────┘
//
// The agent and the sites are processes of the same program. They end when the pipe that
// is their standard input closes, so they end with the demo however it ends.
type demoCmd struct {
	Policy string `placeholder:"NAME" help:"dfrs: one site on this host where jobs share processors; checks the shares, in about a minute."`
	Seed   uint64 `default:"1" help:"Random seed of the stream of requests."`
	Jobs   int    `placeholder:"N" help:"Number of requests; default: 36, or 14 with --quick."`
	Quick  bool   `help:"Use short requests, about ten seconds in total."`
	Keep   bool   `help:"Keep the grid running afterwards, until Ctrl-C."`
	Out    string `placeholder:"DIR" type:"path" help:"Save a picture and a solution that the grid has computed."`

	// Flags of the members of the demo's grid.
	Member string `hidden:"" enum:"agent,server," default:""`
	Config string `hidden:"" type:"path"`
}

// Limits of the demo. A job is limited by its walltime.
const (
	demoMostJobs = 1000
	demoSeed     = 1
	demoUp       = 15 * time.Second // for the processes to start and find each other
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

// check refuses combinations of flags that have no meaning.
func (c *demoCmd) check() error {
	switch {
	case c.Jobs < 0 || c.Jobs > demoMostJobs:
		return &cmdline.UsageError{Message: fmt.Sprintf("--jobs %d, accepted: 1..%d, 0 for the demo's choice", c.Jobs,
			demoMostJobs)}
	case c.Policy == "":
		return nil
	case c.Policy != "dfrs":
		return &cmdline.UsageError{
			Message: fmt.Sprintf("--policy %q, accepted: dfrs", c.Policy),
			Hint:    "the demo without --policy has sites under cbf and easy",
		}
	case c.Jobs != 0 || c.Out != "" || c.Seed != demoSeed:
		return &cmdline.UsageError{Message: "--policy accepts --quick and --keep; --seed, --jobs and --out are for " +
			"the demo of three sites"}
	}
	return nil
}

// show executes the stream and prints the results.
func (c *demoCmd) show(ctx context.Context, a *app, g *demoGrid, slow float64) error {
	sum, closest, err := c.execute(ctx, a, g)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // the end of a member, or Ctrl-C, rather than the calls that failed because of it
	}
	if err != nil {
		return err
	}
	sum.Slowness = slow
	if err := c.printResult(a, &sum, closest); err != nil {
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

// keep keeps the grid running until Ctrl-C.
func (c *demoCmd) keep(ctx context.Context, a *app, g *demoGrid) error {
	if !c.Keep {
		return nil
	}
	hint := a.Stdout
	if a.flags.JSON {
		hint = a.Stderr // stdout has only the summary
	}
	_, _ = fmt.Fprintf(hint, "\nthe grid runs until Ctrl-C; to use it:\n  drover --agent %s queue\n", g.agent.URL)
	<-ctx.Done()
	if a.ctx.Err() == nil {
		return context.Cause(ctx)
	}
	return nil
}

// execute runs the stream on a grid that is up. It returns the summary and the job of the
// closest decision, if there is one.
func (c *demoCmd) execute(ctx context.Context, a *app, g *demoGrid) (sum demoSummary, closest *client.Job, err error) {
	grid, err := client.New(client.Default(g.agent.URL))
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

// awaitSites waits until the agent knows n sites.
func awaitSites(ctx context.Context, grid *client.Client, n int) ([]client.Site, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, demoUp, fmt.Errorf("the agent has not found %d sites within %v", n,
		demoUp))
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

// play submits each request of the stream at its time, and watches every job to its end.
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
	late := time.AfterFunc(demoLag, func() { stop(fmt.Errorf("jobs still run %v after the last submission", demoLag)) })
	defer late.Stop()
	jobs.Wait()
	return context.Cause(ctx)
}

// until waits for an instant or the end of ctx.
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

// printResult prints the summary and the closest decision.
func (c *demoCmd) printResult(a *app, sum *demoSummary, closest *client.Job) error {
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, sum)
	}
	if err := sum.print(a.Stdout); err != nil || closest == nil {
		return err
	}
	_, _ = fmt.Fprintf(a.Stdout, "\nThe closest decision (drover why %s):\n", closest.ID)
	return (&whyCmd{Job: closest.ID}).Run(a)
}
