package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type queueCmd struct {
	All     bool   `help:"Include jobs that have ended."`
	State   string `placeholder:"STATE" complete:"state" help:"Only jobs in this state."`
	Service string `placeholder:"SERVICE" complete:"service" help:"Only jobs of this service."`
	Owner   string `placeholder:"NAME" help:"Only jobs of this owner."`
	Site    string `placeholder:"SITE" complete:"site" help:"Only jobs at this site."`
}

func (c *queueCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	f := client.JobFilter{State: c.State, Service: c.Service, Owner: c.Owner, Site: c.Site}
	if f.State == "" && !c.All {
		f.State = "active"
	}
	list, err := grid.Jobs(a.ctx, f)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, list)
	}
	if a.flags.Quiet {
		for _, j := range list.Jobs {
			_, _ = fmt.Fprintln(a.Stdout, j.ID)
		}
	} else {
		printQueue(a, list.Jobs)
	}
	warnMissing(a, list.Missing, "its jobs are as last known, or not listed")
	return nil
}

func printQueue(a *app, jobs []*client.Job) {
	t := cmdline.NewTable(a.Stdout,
		table.Row{"job", "service", "owner", "site", "state", "width", "submitted", "started", "ends", "note"}, "width")
	t.ShortIDs()
	t.Optional("submitted", "owner", "started")
	for _, j := range jobs {
		t.AppendRow(table.Row{
			j.ID, j.Service, j.Owner, j.Site, stateText(j), j.Shape.Width,
			clock(j.Submitted), clock(j.Started), clock(expectedEnd(j)), noteText(j),
		})
	}
	t.Render()
}

// expectedEnd returns when a job ended, or should end: by its walltime once it runs, by
// the estimate at its submission before. It is zero where that is not known, as for a job
// that waits for others.
func expectedEnd(j *client.Job) time.Time {
	switch {
	case !j.Ended.IsZero() || j.EstimateKind == "" || len(j.Awaits) > 0:
		return j.Ended
	case !j.Started.IsZero():
		return j.Started.Add(j.Shape.Walltime)
	}
	return j.Submitted.Add(j.EstimatedCompletion)
}
