package main

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type whyCmd struct {
	Job string `arg:"" complete:"job" help:"The job: its ID or the beginning, or last."`
}

func (c *whyCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id, err := a.chooseOne(grid, c.Job, false)
	if err != nil {
		return err
	}
	d, j, err := grid.Why(a.ctx, id)
	if err != nil {
		return err
	}
	if j.UnknownFor > 0 {
		return &problem.Problem{
			Reason: "unreachable", Retryable: true,
			Message: fmt.Sprintf("site %s, which has the record of job %s, has not answered for %s", j.Site, j.ID, cmdline.Span(j.UnknownFor)),
			Hint:    "try again when it is back",
		}
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, decisionViewOf(d, j))
	}
	if d == nil {
		_, err := fmt.Fprintf(a.Stdout, "%s is at %s: the client chose the site itself\n", j.ID, j.Site)
		return err
	}
	_, _ = fmt.Fprint(a.Stdout, chosenBy(d, j)+"\n\n")
	t := cmdline.NewTable(a.Stdout,
		table.Row{"", "site", "wait", "transfer", "run", "width", "completion", "margin", "estimate", "note"},
		"wait", "transfer", "run", "width", "completion", "margin")
	for i := range d.Candidates {
		t.AppendRow(candidateRow(&d.Candidates[i], d.Chosen))
	}
	t.Render()
	if len(j.Awaits) > 0 {
		_, _ = fmt.Fprintf(a.Stdout, "\nit is held until these have ended: %s\n", namesOf(j.Awaits))
	}
	if len(j.NodesAway) > 0 {
		_, _ = fmt.Fprintf(a.Stdout, "\nit waits, and nodes of %s are not there now: %s (drover top %s says why)\n", j.Site, namesOf(j.NodesAway), j.Site)
	}
	if text := retriesOf(j); j.Retried > 0 {
		_, _ = fmt.Fprintf(a.Stdout, "\nit has failed, and was started anew: %s\n", text)
	}
	if j.Agreement != "" {
		_, _ = fmt.Fprintf(a.Stdout, "\nthe agreement to complete it by %s: %s\n", day(j.Deadline), agreed(j))
	}
	if text := checkpointOf(j); text != "" {
		_, _ = fmt.Fprintf(a.Stdout, "\nit had to make place: %s\n", text)
	}
	if j.Site != d.Chosen {
		_, _ = fmt.Fprintln(a.Stdout, "\nit is at "+j.Site+" now: "+sinceThen(j, d.Chosen))
	}
	return nil
}

// chosenBy says who has made a decision, and which. The record came with the submission.
func chosenBy(d *client.Decision, j *client.Job) string {
	return cmdline.Printable(fmt.Sprintf("agent %s chose %s at %s for %s, which would finish it first", d.Agent, d.Chosen, clock(d.MadeAt), j.Service))
}

func candidateRow(c *client.Candidate, chosen string) table.Row {
	mark := ""
	if c.Site == chosen {
		mark = "*"
	}
	if m := c.Missing; m != nil {
		note := m.Reason
		if m.Detail != nil {
			note += ": " + m.Detail.Error()
		}
		return table.Row{mark, c.Site, "-", cmdline.Span(c.Transfer), "-", "-", "-", "-", "-", note}
	}
	kind := string(c.Kind)
	if c.Kind == client.Probable {
		kind = fmt.Sprintf("%s (%.0f%%)", kind, 100*c.Probability)
	}
	note := ""
	if c.StateAge >= 1e9 {
		note = "as of " + cmdline.Span(c.StateAge) + " before"
	}
	if c.Correction != 0 {
		note = strings.TrimPrefix(note+", corrected by "+signed(c.Correction), ", ")
	}
	return table.Row{mark, c.Site, cmdline.Span(c.Wait), cmdline.Span(c.Transfer), cmdline.Span(c.Run), c.Shape.Width, cmdline.Span(c.Completion), cmdline.Span(c.Margin), kind, note}
}

func decisionViewOf(d *client.Decision, j *client.Job) decisionView {
	v := decisionView{Schema: "drover.decision/1", Job: j.ID, Site: j.Site, Candidates: []candidateView{}}
	if d == nil {
		return v
	}
	v.MadeAt, v.Agent, v.Chosen = instant(d.MadeAt), d.Agent, d.Chosen
	for i := range d.Candidates {
		c := &d.Candidates[i]
		v.Candidates = append(v.Candidates, candidateView{
			Site: c.Site, Wait: c.Wait.Seconds(), Transfer: c.Transfer.Seconds(), Run: c.Run.Seconds(),
			Completion: c.Completion.Seconds(), Margin: c.Margin.Seconds(), StateAge: c.StateAge.Seconds(),
			Width: c.Shape.Width, Walltime: c.Shape.Walltime.Seconds(), Kind: c.Kind, Probability: c.Probability,
			Missing: missingViewOf(c.Site, c.Missing), Correction: c.Correction.Seconds(),
		})
	}
	return v
}

// sinceThen says how a job came to another site than the one that was chosen.
func sinceThen(j *client.Job, chosen string) string {
	var last *client.Move
	for i := range j.Moves {
		if m := &j.Moves[i]; m.To == j.Site && m.State == client.MoveMoved {
			last = m
		}
	}
	if last == nil {
		return cmdline.Printable(chosen) + " could not be reached, or did not take it"
	}
	return cmdline.Printable(fmt.Sprintf("it was moved from %s, %s", last.From, last.Reason))
}
