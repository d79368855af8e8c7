package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type queueCmd struct {
	All     bool   `help:"Those that have ended, too."`
	State   string `complete:"state" help:"Only those in this state."`
	Service string `complete:"service" help:"Only those of this service."`
	Owner   string `help:"Only those of this owner."`
	Site    string `complete:"site" help:"Only those at this site."`
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
		v := queueView{Schema: "drover.queue/1", Jobs: []jobView{}, Missing: []missingView{}}
		for _, j := range list.Jobs {
			v.Jobs = append(v.Jobs, jobViewOf(j))
		}
		for i := range list.Missing {
			v.Missing = append(v.Missing, *missingViewOf(list.Missing[i].Site, &list.Missing[i].Missing))
		}
		return cmdline.WriteJSON(a.Stdout, v)
	}
	if a.flags.Quiet {
		for _, j := range list.Jobs {
			_, _ = fmt.Fprintln(a.Stdout, j.ID)
		}
		silent(a, list.Missing, "its jobs are not listed, or as they were last heard of")
		return nil
	}
	t := cmdline.NewTable(a.Stdout, table.Row{"job", "service", "owner", "site", "state", "width", "submitted", "started", "ends", "note"}, "width")
	for _, j := range list.Jobs {
		end := j.Ended
		if end.IsZero() && j.EstimateKind != "" && len(j.Awaits) == 0 { // when those will have ended nobody has counted
			end = expectedEnd(j)
		}
		t.AppendRow(table.Row{
			j.ID, j.Service, j.Owner, j.Site, stateOf(j), j.Shape.Width, clock(j.Submitted), clock(j.Started), clock(end), noteOf(j),
		})
	}
	t.Render()
	silent(a, list.Missing, "its jobs are not listed, or as they were last heard of")
	return nil
}

// expectedEnd is when a job that has not ended should have: by its walltime once
// it runs, by the estimate at its submission before.
func expectedEnd(j *client.Job) time.Time {
	if !j.Started.IsZero() {
		return j.Started.Add(j.Shape.Walltime)
	}
	return j.Submitted.Add(j.EstimatedCompletion)
}
