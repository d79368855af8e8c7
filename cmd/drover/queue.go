package main

import (
	"fmt"
	"maps"
	"slices"
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
	if a.flags.JSON {
		list, err := grid.Jobs(a.ctx, f)
		if err != nil {
			return err
		}
		return cmdline.WriteJSON(a.Stdout, list)
	}
	f.Brief = true
	t := queueTable(a)
	missing := make(map[string]client.MissingSite) // a silent site is missing on every page
	listed := 0
	err = grid.JobPages(a.ctx, f, func(page *client.JobList) error {
		for _, m := range page.Missing {
			missing[m.Site] = m
		}
		t.Flush() // more follows
		listed += len(page.Jobs)
		for _, j := range page.Jobs {
			if a.flags.Quiet {
				_, _ = fmt.Fprintln(a.Stdout, j.ID)
				continue
			}
			t.AppendRow(queueRow(j))
		}
		return nil
	})
	if !a.flags.Quiet && (err == nil || listed > 0) {
		t.Render()
	}
	var absent []client.MissingSite
	for _, site := range slices.Sorted(maps.Keys(missing)) {
		absent = append(absent, missing[site])
	}
	warnMissing(a, absent, "its jobs are as last known, or not listed")
	return err
}

func queueTable(a *app) *cmdline.Table {
	t := cmdline.NewTable(a.Stdout,
		table.Row{"job", "service", "owner", "site", "state", "width", "submitted", "started", "ends", "note"}, "width")
	t.ShortIDs()
	t.Optional("submitted", "owner", "started")
	return t
}

func queueRow(j *client.Job) table.Row {
	return table.Row{
		j.ID, j.Service, j.Owner, j.Site, stateText(j), j.Shape.Width,
		clock(j.Submitted), clock(j.Started), clock(expectedEnd(j)), noteText(j),
	}
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
