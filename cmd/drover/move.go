package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

type moveCmd struct {
	Job     string         `arg:"" complete:"job" help:"The job: its ID or the beginning, or last."`
	Site    string         `arg:"" optional:"" complete:"site" help:"The target; default: the site where the job would finish first."`
	MinGain *time.Duration `placeholder:"D" help:"Move the job only if it finishes this much earlier; default: move it in any case."`
	Reason  string         `placeholder:"TEXT" help:"Reason for the record; default: by hand."`
	Wait    bool           `help:"Wait until the move has completed or was aborted."`
}

func (c *moveCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id, err := a.selectJob(grid, c.Job, true)
	if err != nil {
		return err
	}
	job, to, err := grid.Move(a.ctx, id, client.MoveOrder{To: c.Site, MinGain: c.MinGain, Reason: c.Reason})
	if err != nil {
		return err
	}
	move := client.Move{Job: job.ID, Service: job.Service, From: job.Site, To: to, State: client.MovePending}
	if c.Wait {
		if move, err = a.awaitMove(grid, job, to); err != nil {
			return err
		}
	}
	switch {
	case a.flags.JSON:
		err = cmdline.WriteJSON(a.Stdout, &move)
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, move.Job)
	default:
		_, err = fmt.Fprintf(a.Stdout, "%s: from %s to %s, %s\n", move.Job, move.From, move.To, moveStateText(&move))
	}
	if err == nil && move.State == client.MoveAborted {
		return cmdline.ExitError(cmdline.ExitFailure)
	}
	return err
}

// awaitMove waits until the move of a job has completed or was aborted.
func (a *app) awaitMove(grid *client.Client, job *client.Job, to string) (move client.Move, err error) {
	err = a.poll(func() (bool, error) {
		list, err := grid.Moves(a.ctx, client.MoveFilter{Job: job.ID})
		if err != nil {
			return false, err
		}
		for _, m := range list.Moves { // the latest first
			if m.From == job.Site && m.To == to && m.Epoch >= job.Epoch {
				move = m
				return m.State != client.MovePending, nil
			}
		}
		return false, nil
	})
	return move, err
}

func moveStateText(m *client.Move) string {
	if m.State == client.MoveAborted && m.AbortedWhy != "" {
		return "aborted: " + m.AbortedWhy
	}
	return string(m.State)
}

type movesCmd struct {
	Job   string `placeholder:"JOB" complete:"job" help:"Only moves of this job."`
	Site  string `placeholder:"SITE" complete:"site" help:"Only moves from or to this site."`
	State string `placeholder:"STATE" help:"Only moves in this state: pending, moved or aborted."`
}

func (c *movesCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id := ""
	if c.Job != "" {
		if id, err = a.selectJob(grid, c.Job, false); err != nil {
			return err
		}
	}
	list, err := grid.Moves(a.ctx, client.MoveFilter{Job: id, Site: c.Site, State: client.MoveState(c.State)})
	if err != nil {
		return err
	}
	switch {
	case a.flags.JSON:
		return cmdline.WriteJSON(a.Stdout, list)
	case a.flags.Quiet:
		for i := range list.Moves {
			_, _ = fmt.Fprintln(a.Stdout, list.Moves[i].Job)
		}
	default:
		printMoves(a, list.Moves)
	}
	warnMissing(a, list.Missing, "its moves may be missing")
	return nil
}

func printMoves(a *app, moves []client.Move) {
	t := cmdline.NewTable(a.Stdout,
		table.Row{"ordered", "job", "service", "from", "to", "epoch", "state", "why", "agent", "predicted", "realized"},
		"epoch", "predicted", "realized")
	t.ShortIDs()
	t.Optional("agent", "epoch", "service", "predicted")
	gain := func(d *time.Duration) string {
		if d == nil {
			return "-"
		}
		return cmdline.Span(*d)
	}
	for i := range moves {
		m := &moves[i]
		why := m.Reason
		if m.AbortedWhy != "" {
			why = strings.TrimPrefix(why+"; ", "; ") + m.AbortedWhy
		}
		t.AppendRow(table.Row{
			clock(m.Ordered), m.Job, m.Service, m.From, m.To, m.Epoch, m.State, why, m.Agent,
			gain(m.PredictedGain), gain(m.RealizedGain),
		})
	}
	t.Render()
}

// poll calls done until it returns true, with growing pauses. It retries errors that may
// pass for as long as waiting for a job would.
func (a *app) poll(done func() (bool, error)) error {
	patience := client.DefaultLongPatience
	if p := a.flags.Patience; p != nil {
		patience = *p
	}
	pause, lastAnswer := 100*time.Millisecond, time.Now()
	for {
		end, err := done()
		if e, ok := errors.AsType[*problem.Problem](err); ok && e.Retryable && time.Since(lastAnswer) < patience {
			end, err = false, nil
		} else if err == nil {
			lastAnswer = time.Now()
		}
		if end || err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-a.ctx.Done():
			timer.Stop()
			return a.ctx.Err()
		}
		pause = min(2*pause, 2*time.Second)
	}
}
