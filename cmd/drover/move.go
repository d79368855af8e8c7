package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type moveCmd struct {
	Job     string         `arg:"" complete:"job" help:"The job: its ID or the beginning, or last."`
	Site    string         `arg:"" optional:"" complete:"site" help:"Where it is to go; default: where it would finish first."`
	MinGain *time.Duration `placeholder:"D" help:"How much sooner it must be finished there; default: at any price."`
	Reason  string         `help:"Why, for the record; default: by hand."`
	Wait    bool           `help:"Until the move has been carried out, or aborted."`
}

func (c *moveCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id, err := a.chooseOne(grid, c.Job, true)
	if err != nil {
		return err
	}
	job, to, err := grid.Move(a.ctx, id, client.MoveOrder{To: c.Site, MinGain: c.MinGain, Reason: c.Reason})
	if err != nil {
		return err
	}
	if !c.Wait {
		if a.flags.JSON {
			return cmdline.WriteJSON(a.Stdout, moveBegunView{Schema: "drover.move/1", Job: job.ID, From: job.Site, To: to, State: client.MovePending})
		}
		if a.flags.Quiet {
			_, err = fmt.Fprintln(a.Stdout, job.ID)
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s: from %s to %s, begun\n", job.ID, job.Site, to)
		return err
	}
	var move client.Move
	err = a.poll(func() (bool, error) {
		list, err := grid.Moves(a.ctx, client.MoveFilter{Job: id})
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
	if err != nil {
		return err
	}
	switch {
	case a.flags.JSON:
		err = cmdline.WriteJSON(a.Stdout, moveBegunView{
			Schema: "drover.move/1", Job: move.Job, From: move.From, To: move.To, State: move.State, AbortedWhy: move.AbortedWhy, Epoch: move.Epoch,
		})
	case a.flags.Quiet:
		_, err = fmt.Fprintln(a.Stdout, move.Job)
	default:
		_, err = fmt.Fprintf(a.Stdout, "%s: from %s to %s, %s\n", move.Job, move.From, move.To, outcomeOf(&move))
	}
	if err == nil && move.State == client.MoveAborted {
		return cmdline.ExitError(cmdline.ExitFailure)
	}
	return err
}

// outcomeOf tells what came of a move.
func outcomeOf(m *client.Move) string {
	if m.State == client.MoveAborted && m.AbortedWhy != "" {
		return "aborted: " + m.AbortedWhy
	}
	return string(m.State)
}

type movesCmd struct {
	Job   string `complete:"job" help:"Only those of this job."`
	Site  string `complete:"site" help:"Only those from or to this site."`
	State string `help:"Only those in this state: pending, moved or aborted."`
}

func (c *movesCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	id := ""
	if c.Job != "" {
		if id, err = a.chooseOne(grid, c.Job, false); err != nil {
			return err
		}
	}
	list, err := grid.Moves(a.ctx, client.MoveFilter{Job: id, Site: c.Site, State: client.MoveState(c.State)})
	if err != nil {
		return err
	}
	if a.flags.JSON {
		v := movesView{Schema: "drover.moves/1", Moves: []moveView{}, Missing: []missingView{}}
		for i := range list.Moves {
			v.Moves = append(v.Moves, moveViewOf(&list.Moves[i]))
		}
		for i := range list.Missing {
			v.Missing = append(v.Missing, *missingViewOf(list.Missing[i].Site, &list.Missing[i].Missing))
		}
		return cmdline.WriteJSON(a.Stdout, v)
	}
	if a.flags.Quiet {
		for i := range list.Moves {
			_, _ = fmt.Fprintln(a.Stdout, list.Moves[i].Job)
		}
		silent(a, list.Missing, "its moves may be missing")
		return nil
	}
	t := cmdline.NewTable(a.Stdout, table.Row{"ordered", "job", "service", "from", "to", "epoch", "state", "why", "agent", "predicted", "realised"},
		"epoch", "predicted", "realised")
	for i := range list.Moves {
		m := &list.Moves[i]
		why := m.Reason
		if m.AbortedWhy != "" {
			why = strings.TrimPrefix(why+"; ", "; ") + m.AbortedWhy
		}
		t.AppendRow(table.Row{clock(m.Ordered), m.Job, m.Service, m.From, m.To, m.Epoch, m.State, why, m.Agent, gain(m.PredictedGain), gain(m.RealisedGain)})
	}
	t.Render()
	silent(a, list.Missing, "its moves may be missing")
	return nil
}

// silent tells on stderr of the sites that did not answer.
func silent(a *app, missing []client.MissingSite, so string) {
	for i := range missing {
		m := missingViewOf(missing[i].Site, &missing[i].Missing)
		_, _ = fmt.Fprintf(a.Stderr, "drover: no answer from site %s (%s): %s\n", m.Site, cmp.Or(m.Message, m.Reason), so)
	}
}

// gain returns a gain for people, "-" for one that is not known.
func gain(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return cmdline.Span(*d)
}

// poll calls done until it says so, or the command is interrupted. It pauses
// longer and longer in between, and puts up with failures that may pass for as
// long as a wait for a job would.
func (a *app) poll(done func() (bool, error)) error {
	patience := client.DefaultLongPatience
	if p := a.flags.Patience; p != nil {
		patience = *p
	}
	pause, fine := 100*time.Millisecond, time.Now()
	for {
		end, err := done()
		if e, ok := errors.AsType[*problem.Problem](err); ok && e.Retryable && time.Since(fine) < patience {
			end, err = false, nil
		} else if err == nil {
			fine = time.Now()
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

type moveView struct {
	Job           string           `json:"job"`
	Service       string           `json:"service,omitempty"`
	From          string           `json:"from"`
	To            string           `json:"to"`
	Epoch         uint32           `json:"epoch"`
	State         client.MoveState `json:"state"`
	Ordered       *time.Time       `json:"ordered_at,omitempty"`
	Settled       *time.Time       `json:"settled_at,omitempty"`
	Reason        string           `json:"reason,omitempty"`
	Agent         string           `json:"agent,omitempty"`
	AbortedWhy    string           `json:"aborted_why,omitempty"`
	PredictedGain *float64         `json:"predicted_gain,omitempty"`
	RealisedGain  *float64         `json:"realised_gain,omitempty"`
	MinGain       *float64         `json:"min_gain,omitempty"`
}

func moveViewOf(m *client.Move) moveView {
	return moveView{
		Job: m.Job, Service: m.Service, From: m.From, To: m.To, Epoch: m.Epoch, State: m.State,
		Ordered: instant(m.Ordered), Settled: instant(m.Settled), Reason: m.Reason, Agent: m.Agent, AbortedWhy: m.AbortedWhy,
		PredictedGain: gainView(m.PredictedGain), RealisedGain: gainView(m.RealisedGain), MinGain: gainView(m.MinGain),
	}
}

type movesView struct {
	Schema  string        `json:"schema"`
	Moves   []moveView    `json:"moves"`
	Missing []missingView `json:"missing"`
}

// moveBegunView is one move that was ordered, and what came of it.
type moveBegunView struct {
	Schema     string           `json:"schema"`
	Job        string           `json:"job"`
	From       string           `json:"from"`
	To         string           `json:"to"`
	State      client.MoveState `json:"state"`
	Epoch      uint32           `json:"epoch,omitempty"`
	AbortedWhy string           `json:"aborted_why,omitempty"`
}

type drainView struct {
	Schema string     `json:"schema"`
	Site   string     `json:"site"`
	Status statusView `json:"status"`
}

// gainView returns a gain for a view, nil for none.
func gainView(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}
