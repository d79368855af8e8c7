package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type submitCmd struct {
	Service   string `arg:"" optional:"" complete:"service" help:"The service to execute; drover services lists them."`
	request   `embed:""`
	Negotiate bool    `xor:"many" help:"Show what each site offers, and submit nothing."`
	From      *string `xor:"many" placeholder:"FILE" help:"Submit the requests of a file of JSON lines; - is stdin. Fields that a line does not have are taken from the command line."`
	Array     *string `xor:"many" placeholder:"RANGE" help:"Submit one request per index of a range: 1-100, 0-90:10 or 1,5-9. {index} in the values of arguments and labels is replaced by the index."`
}

func (c *submitCmd) Run(a *app) error {
	now := time.Now()
	switch {
	case c.From != nil:
		return c.fromFile(a, now)
	case c.Service == "":
		return &cmdline.UsageError{Message: `expected "<service>"`, Hint: "drover --help, or --help after a command"}
	case c.Array != nil:
		return c.array(a, now)
	}
	grid, args, err := c.prepare(a, c.Service, now)
	if err != nil {
		return err
	}
	if c.Negotiate {
		return c.negotiate(a, grid, args)
	}
	line := &progress{app: a}
	job, err := grid.Submit(a.ctx, c.Service, append(args, client.Notify(line.retried),
		client.Sending(line.sending))...)
	line.clear()
	if err != nil {
		a.rememberLast(possibleJob(err), now)
		return err
	}
	a.rememberLast(job.ID, now)
	if a.Terminal && !a.flags.JSON && !a.flags.Quiet {
		_, _ = fmt.Fprintf(a.Stderr, "at %s: %s, wait %s, ends in %s (%s)\n",
			job.Site, processors(job.Shape.Width), cmdline.Span(job.EstimatedWait),
			cmdline.Span(job.EstimatedCompletion), job.EstimateKind)
	}
	a.printKept(job)
	return a.printJob(job, true, job.ID)
}

// prepare returns the client and the complete request.
func (r *request) prepare(a *app, service string, now time.Time) (*client.Client, []client.Arg, error) {
	args, err := r.arguments(service, now, client.Text)
	if err != nil {
		return nil, nil, err
	}
	grid, err := a.grid()
	if err != nil {
		return nil, nil, err
	}
	after, err := newDependencyFinder(a, grid).find(r.After)
	return grid, append(args, dependencyArgs(after)...), err
}

// negotiate prints what each site offers for the request.
func (c *submitCmd) negotiate(a *app, grid *client.Client, args []client.Arg) error {
	if a.flags.Quiet {
		return &cmdline.UsageError{
			Message: "--quiet with --negotiate, which prints no IDs", Hint: "without it, or with --json",
		}
	}
	d, err := grid.Negotiate(a.ctx, c.Service, args...)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		err = cmdline.WriteJSON(a.Stdout, d)
	} else {
		printOffers(a, d)
	}
	if err == nil && d.Chosen == "" {
		return cmdline.ExitError(cmdline.ExitNoOffer)
	}
	return err
}

func printOffers(a *app, d *client.Decision) {
	t := cmdline.NewTable(a.Stdout, table.Row{"", "site", "wait", "ends in", "width", "estimate", "note"}, "wait",
		"ends in", "width")
	for i := range d.Candidates {
		c := &d.Candidates[i]
		mark := ""
		if c.Site == d.Chosen {
			mark = "*"
		}
		m := c.Missing
		switch {
		case m == nil:
			t.AppendRow(table.Row{
				mark, c.Site, cmdline.Span(c.Wait), cmdline.Span(c.Completion), c.Shape.Width, estimateText(c), "",
			})
		case m.Detail != nil && m.Detail.Offer != nil:
			o := m.Detail.Offer
			note := "refused, the site could promise this; " + m.Detail.Error()
			t.AppendRow(table.Row{mark, c.Site, cmdline.Span(o.Wait), cmdline.Span(o.Completion), o.Width, "", note})
		default:
			t.AppendRow(table.Row{mark, c.Site, "-", "-", "-", "-", missingText(m)})
		}
	}
	t.Render()
}

// estimateText returns the kind of an estimate, with its probability if it has one.
func estimateText(c *client.Candidate) string {
	if c.Kind == client.Probable {
		return fmt.Sprintf("%s (%.0f%%)", c.Kind, 100*c.Probability)
	}
	return string(c.Kind)
}
