package main

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type drainCmd struct {
	Site string `arg:"" complete:"site" help:"Name of the site."`
	Wait bool   `help:"Until nothing waits there any more that may leave. What runs there runs on."`
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
			// The order again: it changes nothing, holds after a restart of the
			// site, and brings its queue.
			q, err = grid.Drain(a.ctx, c.Site)
			return err == nil && q.Waiting <= q.Bound, err
		})
		if err != nil {
			return err
		}
	}
	return a.queue(c.Site, q)
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
	return a.queue(c.Site, q)
}

// queue prints a site's queue after an order.
func (a *app) queue(site string, q *client.Status) error {
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, drainView{Schema: "drover.drain/1", Site: site, Status: *statusViewOf(q)})
	}
	if a.flags.Quiet {
		_, err := fmt.Fprintln(a.Stdout, site)
		return err
	}
	does := "takes jobs"
	if q.Draining {
		does = "takes no new jobs"
	}
	_, err := fmt.Fprintf(a.Stdout, "%s %s: %d running, %d waiting\n", site, does, q.Running, q.Waiting)
	if q.Draining && q.Bound > 0 {
		_, _ = fmt.Fprintf(a.Stderr, "drover: %d of those that wait stay: they have an agreement, are in a reservation, or may be at this site alone\n", q.Bound)
	}
	return err
}
