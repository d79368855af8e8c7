package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
)

// one returns the view of a job that is printed alone.
func one(j *client.Job) jobView {
	v := jobViewOf(j)
	v.Schema = "drover.job/1"
	return v
}

type jobCmd struct {
	Job string `arg:"" help:"ID of the job."`
}

func (c *jobCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	j, err := grid.Job(a.ctx, c.Job)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return writeJSON(a.stdout, one(j))
	}
	t := newTable(a.stdout, nil)
	row := func(name, format string, args ...any) {
		if s := fmt.Sprintf(format, args...); s != "" {
			t.AppendRow(table.Row{name, s})
		}
	}
	row("job", "%s", j.ID)
	row("state", "%s", j.State)
	if j.State.Final() {
		row("outcome", "%s", j.Outcome.Reason)
	}
	row("service", "%s", j.Service)
	for _, name := range slices.Sorted(maps.Keys(j.Arguments)) {
		row("  "+name, "%s", j.Arguments[name])
	}
	row("owner", "%s", j.Owner)
	row("site", "%s", j.Site)
	row("nodes", "%s", strings.Join(j.Nodes, " "))
	row("width", "%d", j.Shape.Width)
	row("walltime", "%s", span(j.Shape.Walltime))
	row("submitted", "%s", clock(j.Submitted))
	row("started", "%s (estimated %s)", clock(j.Started), clock(j.Submitted.Add(j.EstimatedWait)))
	row("ended", "%s (%s %s)", clock(j.Ended), j.EstimateKind, clock(j.Submitted.Add(j.EstimatedCompletion)))
	for _, o := range j.Outputs {
		row("output", "%s, %d bytes", o.Argument, o.Size)
	}
	t.Render()
	return nil
}

type queueCmd struct {
	All     bool   `help:"Those that have ended, too."`
	State   string `help:"Only those in this state."`
	Service string `help:"Only those of this service."`
	Owner   string `help:"Only those of this owner."`
	Site    string `help:"Only those at this site."`
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
			v.Missing = append(v.Missing, *missingViewOf(&list.Missing[i]))
		}
		return writeJSON(a.stdout, v)
	}
	t := newTable(a.stdout, table.Row{"job", "service", "owner", "site", "state", "width", "submitted", "started", "ends"}, "width")
	for _, j := range list.Jobs {
		end := j.Ended
		if end.IsZero() {
			end = j.Submitted.Add(j.EstimatedCompletion)
		}
		t.AppendRow(table.Row{j.ID, j.Service, j.Owner, j.Site, j.State, j.Shape.Width, clock(j.Submitted), clock(j.Started), clock(end)})
	}
	t.Render()
	for i := range list.Missing {
		m := missingViewOf(&list.Missing[i])
		_, _ = fmt.Fprintf(a.stderr, "drover: no answer from site %s (%s %s): its jobs are not listed\n", m.Site, m.Reason, m.Message)
	}
	return nil
}

type logsCmd struct {
	Job    string `arg:"" help:"ID of the job."`
	Follow bool   `short:"f" help:"Go on until the job has ended."`
	Stderr bool   `help:"Standard error in place of standard output."`
}

func (c *logsCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	return grid.Logs(a.ctx, c.Job, client.LogOptions{Stderr: c.Stderr, Follow: c.Follow}, a.stdout)
}

type cancelCmd struct {
	Job string `arg:"" help:"ID of the job."`
}

func (c *cancelCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	j, err := grid.Cancel(a.ctx, c.Job)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return writeJSON(a.stdout, one(j))
	}
	_, err = fmt.Fprintln(a.stdout, j.State)
	return err
}
