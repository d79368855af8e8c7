package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type reallocateCmd struct {
	DryRun    bool           `help:"Only show which jobs the round would move."`
	Algorithm string         `placeholder:"A" help:"regular (move a job if it gains enough) or all-cancellation (plan all jobs again). Default, also for the flags below: the agent's configuration."`
	Heuristic string         `placeholder:"H" help:"Selects the next job: mct (the oldest), minmin, maxmin, sufferage, maxgain or maxrelgain."`
	Window    string         `placeholder:"N" help:"How many of the oldest jobs the heuristic compares, or all."`
	Threshold *time.Duration `placeholder:"D" help:"Gain that regular requires when the transfer time of the job's input is not known."`
	LeastGain *time.Duration `placeholder:"D" help:"Gain that any move requires."`
	MostMoves *int           `name:"most-moves-round" placeholder:"N" help:"Most moves in this round; 0: no limit."`
}

func (c *reallocateCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	r, err := grid.Reallocate(a.ctx, client.ReallocateOrder{
		DryRun: c.DryRun, Algorithm: c.Algorithm, Heuristic: c.Heuristic, Window: c.Window,
		Threshold: c.Threshold, LeastGain: c.LeastGain, MostMovesRound: c.MostMoves,
	})
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, r)
	}
	if len(r.Jobs) > 0 {
		t := cmdline.NewTable(a.Stdout, table.Row{
			"job", "service", "from", "to", "width", "ect", "new ect", "gain", "state",
		},
			"width", "ect", "new ect", "gain")
		t.ShortIDs()
		t.Optional("service", "width")
		for i := range r.Jobs {
			j := &r.Jobs[i]
			width := fmt.Sprint(j.After.Width)
			if j.Before.Width != j.After.Width {
				width = fmt.Sprintf("%d>%d", j.Before.Width, j.After.Width)
			}
			t.AppendRow(table.Row{
				j.ID, j.Service, j.From, j.To, width, cmdline.Span(j.ECTBefore), cmdline.Span(j.ECTAfter),
				cmdline.Span(j.Gain), reallocatedState(j),
			})
		}
		t.Render()
		_, _ = fmt.Fprintln(a.Stdout)
	}
	_, err = fmt.Fprintln(a.Stdout, roundSummary(&r.Round))
	warnMissing(a, r.Missing, "it takes no part in the round")
	return err
}

func reallocatedState(j *client.ReallocatedJob) string {
	switch {
	case j.Problem != nil:
		return "stays: " + j.Problem.Error()
	case j.Ordered:
		return "ordered"
	}
	return "would be ordered"
}

// roundSummary describes a round in one line.
func roundSummary(r *client.RoundRecord) string {
	does := "moved"
	if r.DryRun {
		does = "would be moved"
	}
	text := fmt.Sprintf("%s, %s: %d of %s at %s %s, total gain %s",
		r.Algorithm, r.Heuristic, r.Moves, plural(r.Jobs, "waiting job"), plural(r.Sites, "site"), does,
		cmdline.Span(r.Gain))
	if r.Failed > 0 {
		text += fmt.Sprintf("; %d could not be ordered", r.Failed)
	}
	if r.Kept > 0 {
		text += fmt.Sprintf("; %d kept their slots", r.Kept)
	}
	return text + fmt.Sprintf(" (took %s, %s of it in %s)", cmdline.Span(r.Took), cmdline.Span(r.Asking),
		plural(r.Questions, "question"))
}
