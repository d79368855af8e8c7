package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// simReproCmd is drover sim repro.
type simReproCmd struct {
	Reallocation simReproReallocationCmd `cmd:"" help:"The paper on reallocation: its figures, its claims beside what we measured, and what it left open."`
	DynP         simReproDynPCmd         `cmd:"" name:"dynp" help:"The paper on self-tuning dynP: its tables beside ours, and what a self-tuning step costs."`
	Overbooking  simReproOverbookingCmd  `cmd:"" help:"What the paper on overbooking left open: what it is worth on real logs, by what is sold and what is broken."`
	DFRS         simReproDFRSCmd         `cmd:"" name:"dfrs" help:"The paper on dynamic fractional resource scheduling: its tables beside ours."`
	Convergent   simReproConvergentCmd   `cmd:"" help:"The paper on convergent scheduling: deadlines and licenses on a farm of unlike machines."`
	Growth       simReproGrowthCmd       `cmd:"" help:"Draw how one column of a CSV file grows with another, over logarithmic axes."`
}

// simReproReallocationCmd is drover sim repro reallocation.
type simReproReallocationCmd struct {
	Results   string `placeholder:"DIR" help:"Results of the campaign paper; what lacks there is run. Default: campaign-paper."`
	Questions string `placeholder:"DIR" help:"Results of the campaigns about what the paper left open, one folder each; what lacks there is run. Or those of the campaign full, as they are. Without it such questions stay open."`
	Out       string `default:"repro-reallocation" placeholder:"DIR" help:"Write the report there: figures, tables, report.md, report.json."`
	Doc       string `placeholder:"FILE" help:"Put the report into this page, too, between its two marks."`
	Quick     bool   `help:"Of a small part of each campaign."`
	Partial   bool   `help:"Run nothing, and report of what there is; each figure says what lacks."`
	Jobs      *int   `placeholder:"N" help:"Experiments at a time. Default: one for each core."`
}

// Run makes the report.
func (c *simReproReallocationCmd) Run(a *app) error {
	workers, err := campaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	m := &reproMaker{app: a, flags: c, workers: workers, rows: &papers.Rows{}}
	r, err := m.report()
	if err != nil {
		return err
	}
	return publication{c.Out, c.Doc, papers.Begin, papers.End}.publish(a, r, func(files int) error {
		return printRepro(a.stdout, r, files, c.Out)
	})
}

// printRepro prints what does not hold and what the questions' answers are.
func printRepro(w io.Writer, r *papers.Report, files int, dir string) error {
	n := map[papers.Verdict]int{}
	var b strings.Builder
	for i := range r.Results {
		c := &r.Results[i]
		if n[c.Verdict]++; c.Verdict == papers.Differs {
			fmt.Fprintf(&b, "differs (%s): %s\n  measured: %s\n", c.Section, c.Says, c.Measured)
		}
	}
	for i := range r.Questions {
		if q := &r.Questions[i]; len(q.Says) > 0 {
			fmt.Fprintf(&b, "%s\n  %s\n", q.Asks, strings.ReplaceAll(strings.Join(q.Says, "\n  "), "**", ""))
		}
	}
	_, err := fmt.Fprintf(w, "%s%d claims: %d hold, %d differ, %d not measured; %d files in %s\n",
		b.String(), len(r.Results), n[papers.Holds], n[papers.Differs], n[papers.Open], files, dir)
	return err
}

// reproExit returns the exit code of an error of a report, 0 for others.
func reproExit(err error) int {
	var (
		parse   *papers.ParseError
		lacking *papers.LackingError
	)
	if errors.As(err, &parse) || errors.As(err, &lacking) {
		return exitRefused
	}
	if code := farmExit(err); code != 0 {
		return code
	}
	return dfrsExit(err)
}
