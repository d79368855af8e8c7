package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

type whyCmd struct {
	Job string `arg:"" complete:"job" help:"The job: its ID or the beginning, or last."`
}

func (c *whyCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id, err := a.selectJob(grid, c.Job, false)
	if err != nil {
		return err
	}
	d, j, err := grid.Why(a.ctx, id)
	if err != nil {
		return err
	}
	if j.UnknownFor > 0 {
		return &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("site %s, which has the record of job %s, has been silent for %s", j.Site, j.ID,
				cmdline.Span(j.UnknownFor)),
			Hint: "try again when the site is back",
		}
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, j)
	}
	if d == nil {
		_, err := fmt.Fprintf(a.Stdout, "%s is at %s: the client chose the site itself\n", j.ID, j.Site)
		return err
	}
	_, _ = fmt.Fprintln(a.Stdout,
		cmdline.Printable(fmt.Sprintf("agent %s chose %s at %s for %s, as the site that finishes it first",
			d.Agent, d.Chosen, clock(d.MadeAt), j.Service)))
	_, _ = fmt.Fprintln(a.Stdout)
	printDecision(a, d)
	for _, text := range sinceDecision(j, d.Chosen) {
		_, _ = fmt.Fprintf(a.Stdout, "\n%s\n", text)
	}
	return nil
}

func printDecision(a *app, d *client.Decision) {
	t := cmdline.NewTable(a.Stdout,
		table.Row{"", "site", "wait", "transfer", "run", "width", "ends in", "margin", "estimate", "note"},
		"wait", "transfer", "run", "width", "ends in", "margin")
	for i := range d.Candidates {
		t.AppendRow(candidateRow(&d.Candidates[i], d.Chosen))
	}
	t.Render()
}

func candidateRow(c *client.Candidate, chosen string) table.Row {
	mark := ""
	if c.Site == chosen {
		mark = "*"
	}
	if c.Missing != nil {
		return table.Row{mark, c.Site, "-", cmdline.Span(c.Transfer), "-", "-", "-", "-", "-", missingText(c.Missing)}
	}
	var notes []string
	if c.StateAge >= time.Second {
		notes = append(notes, "state "+cmdline.Span(c.StateAge)+" old")
	}
	if c.Correction != 0 {
		notes = append(notes, "corrected by "+signed(c.Correction))
	}
	return table.Row{
		mark, c.Site, cmdline.Span(c.Wait), cmdline.Span(c.Transfer), cmdline.Span(c.Run), c.Shape.Width,
		cmdline.Span(c.Completion), cmdline.Span(c.Margin), estimateText(c), strings.Join(notes, ", "),
	}
}

// sinceDecision returns sentences about what has happened to a job since a site was
// chosen for it.
func sinceDecision(j *client.Job, chosen string) (texts []string) {
	add := func(format string, args ...any) {
		texts = append(texts, cmdline.Printable(fmt.Sprintf(format, args...)))
	}
	if len(j.Awaits) > 0 {
		add("held until these jobs have ended: %s", listText(j.Awaits))
	}
	if len(j.NodesAway) > 0 {
		add("waiting; these nodes of %s are away: %s (drover top %s says why)", j.Site, listText(j.NodesAway), j.Site)
	}
	if j.Retried > 0 {
		add("failed and started again: retry %s", retriesText(j))
	}
	if j.Agreement != "" {
		add("agreement to finish by %s: %s", day(j.Deadline), agreementText(j))
	}
	if text := checkpointText(j); text != "" {
		add("preempted: %s", text)
	}
	if j.Site == chosen {
		return texts
	}
	var last *client.Move
	for i := range j.Moves {
		if m := &j.Moves[i]; m.To == j.Site && m.State == client.MoveMoved {
			last = m
		}
	}
	if last == nil {
		add("now at %s: %s could not be reached, or did not accept the job", j.Site, chosen)
	} else {
		add("now at %s: moved from %s, %s", j.Site, last.From, last.Reason)
	}
	return texts
}
