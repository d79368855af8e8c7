package main

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type drainCmd struct {
	Site string `arg:"" complete:"site" help:"Name of the site."`
	Wait bool   `help:"Wait until all jobs that can leave have left the queue. Running jobs continue."`
}

func (c *drainCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	q, err := grid.Drain(a.ctx, c.Site)
	if err != nil {
		return err
	}
	if c.Wait && q.Waiting > q.Bound {
		err = a.poll(func() (bool, error) {
			// Drain is idempotent. Repeating it holds over a restart of the site and
			// returns its queue.
			q, err = grid.Drain(a.ctx, c.Site)
			return err == nil && q.Waiting <= q.Bound, err
		})
		if err != nil {
			return err
		}
	}
	return a.printStatus(c.Site, q)
}

type resumeCmd struct {
	Site string `arg:"" complete:"site" help:"Name of the site."`
}

func (c *resumeCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	q, err := grid.Resume(a.ctx, c.Site)
	if err != nil {
		return err
	}
	return a.printStatus(c.Site, q)
}

type forgetCmd struct {
	Site string `arg:"" complete:"site" help:"Name of the site."`
	Yes  bool   `help:"Forget it. Without this flag the command only explains the consequences."`
}

func (c *forgetCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	if !c.Yes {
		_, err := fmt.Fprintf(a.Stderr, "drover: would forget site %s: its jobs would count as unknown, and could be "+
			"submitted again\nhint: --yes does it\n", c.Site)
		return err
	}
	if err := grid.ForgetSite(a.ctx, c.Site); err != nil || !a.flags.Quiet {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, c.Site)
	return err
}

// printStatus prints a site's queue after drain or resume.
func (a *app) printStatus(site string, q *client.Status) error {
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, q)
	}
	if a.flags.Quiet {
		_, err := fmt.Fprintln(a.Stdout, site)
		return err
	}
	does := "accepts jobs"
	if q.Draining {
		does = "accepts no new jobs"
	}
	_, err := fmt.Fprintf(a.Stdout, "%s %s: %d running, %d waiting\n", site, does, q.Running, q.Waiting)
	if q.Draining && q.Bound > 0 {
		_, _ = fmt.Fprintf(a.Stderr,
			"drover: %d waiting jobs stay: they have an agreement, are in a reservation, or can only run at this "+
				"site\n", q.Bound)
	}
	return err
}
