package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

type reallocateCmd struct {
	DryRun    bool           `help:"Only show what would be done."`
	Algorithm string         `placeholder:"A" help:"regular (a job moves if it gains enough) or all-cancellation (all are placed anew). Default, as of all flags below: what the agent is configured for."`
	Heuristic string         `placeholder:"H" help:"Which job is next: mct (the oldest), minmin, maxmin, sufferage, maxgain or maxrelgain."`
	Window    string         `placeholder:"N" help:"How many of the oldest jobs the heuristic compares, or all."`
	Threshold *time.Duration `placeholder:"D" help:"What regular demands of a move when it is not known how long the job's input would travel."`
	LeastGain *time.Duration `placeholder:"D" help:"What any move must bring."`
	MostMoves *int           `placeholder:"N" help:"Bounds the moves of the round; 0 is no bound."`
}

// check says what is wrong with the flags, before anybody is asked.
func (c *reallocateCmd) check() error {
	bad := func(flag string, err error) error {
		return &cmdline.UsageError{Message: "--" + err.Error(), Hint: "drover reallocate --help says what --" + flag + " means"}
	}
	if _, err := reallocation.ParseAlgorithm(c.Algorithm); err != nil {
		return bad("algorithm", err)
	}
	if _, err := reallocation.ParseHeuristic(c.Heuristic); err != nil {
		return bad("heuristic", err)
	}
	if c.Window != "" {
		if _, err := reallocation.ParseWindow(c.Window); err != nil {
			return bad("window", err)
		}
	}
	if c.Threshold != nil && *c.Threshold < 0 {
		return bad("threshold", fmt.Errorf("threshold: %v, accepted: 0s or more", *c.Threshold))
	}
	if c.LeastGain != nil && *c.LeastGain < 0 {
		return bad("least-gain", fmt.Errorf("least-gain: %v, accepted: 0s or more", *c.LeastGain))
	}
	if c.MostMoves != nil && (*c.MostMoves < 0 || *c.MostMoves > mostMovesRound) {
		return bad("most-moves", fmt.Errorf("most-moves: %d, accepted: 0 (no bound) to %d", *c.MostMoves, mostMovesRound))
	}
	return nil
}

// mostMovesRound is what fits into a message.
const mostMovesRound = 1<<31 - 1

func (c *reallocateCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
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
		return cmdline.WriteJSON(a.Stdout, reallocationViewOf(r))
	}
	if len(r.Jobs) > 0 {
		t := cmdline.NewTable(a.Stdout, table.Row{"job", "service", "from", "to", "width", "ect", "ect then", "gain", "state"},
			"width", "ect", "ect then", "gain")
		for i := range r.Jobs {
			j := &r.Jobs[i]
			t.AppendRow(table.Row{
				j.ID, j.Service, j.From, j.To, widths(j), cmdline.Span(j.ECTBefore), cmdline.Span(j.ECTAfter), cmdline.Span(j.Gain), stateOfReallocated(j),
			})
		}
		t.Render()
		_, _ = fmt.Fprintln(a.Stdout)
	}
	_, err = fmt.Fprintln(a.Stdout, summaryOf(&r.Round))
	silent(a, r.Missing, "it takes no part in the round")
	return err
}

// widths tells the width of a job, and the one it is to have.
func widths(j *client.ReallocatedJob) string {
	if j.Before.Width == j.After.Width {
		return fmt.Sprint(j.After.Width)
	}
	return fmt.Sprintf("%d>%d", j.Before.Width, j.After.Width)
}

func stateOfReallocated(j *client.ReallocatedJob) string {
	switch {
	case j.Problem != nil:
		return "stays: " + j.Problem.Error()
	case j.Ordered:
		return "ordered"
	}
	return "would be ordered"
}

// summaryOf tells a round in a line.
func summaryOf(r *client.RoundRecord) string {
	does := "moved"
	if r.DryRun {
		does = "would be moved"
	}
	text := fmt.Sprintf("%s, %s: %d of %s at %s %s, which gains %s in all",
		r.Algorithm, r.Heuristic, r.Moves, several(r.Jobs, "waiting job"), several(r.Sites, "site"), does, cmdline.Span(r.Gain))
	if r.Failed > 0 {
		text += fmt.Sprintf("; %d could not be ordered", r.Failed)
	}
	if r.Kept > 0 {
		text += fmt.Sprintf("; %d kept their places", r.Kept)
	}
	return text + fmt.Sprintf(" (%s, %s of it in %s)", cmdline.Span(r.Took), cmdline.Span(r.Asking), several(r.Questions, "question"))
}

// several returns a number of things.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// reallocationView is one round of reallocation.
type reallocationView struct {
	Schema    string            `json:"schema"`
	Round     string            `json:"round"`
	Agent     string            `json:"agent"`
	Began     *time.Time        `json:"began_at,omitempty"`
	DryRun    bool              `json:"dry_run"`
	Algorithm string            `json:"algorithm"`
	Heuristic string            `json:"heuristic"`
	Window    string            `json:"window"`
	Sites     int               `json:"sites"`
	Waiting   int               `json:"waiting"`
	Held      int               `json:"held"`
	Kept      int               `json:"kept"`
	Moves     int               `json:"moves"`
	Failed    int               `json:"failed"`
	Later     int               `json:"later"`
	Questions int               `json:"questions"`
	Estimates int64             `json:"estimates"`
	Gain      float64           `json:"gain"`
	Thinking  float64           `json:"thinking"`
	Asking    float64           `json:"asking"`
	Took      float64           `json:"took"`
	Jobs      []reallocatedView `json:"jobs"`
	Missing   []missingView     `json:"missing"`
}

type reallocatedView struct {
	Job     string     `json:"job"`
	Service string     `json:"service"`
	From    string     `json:"from"`
	To      string     `json:"to"`
	Before  placedView `json:"before"`
	After   placedView `json:"after"`
	Gain    float64    `json:"gain"`
	Ordered bool       `json:"ordered"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
}

// placedView is what a job has, or is to have, in a plan.
type placedView struct {
	Width    int     `json:"width"`
	Walltime float64 `json:"walltime"`
	ECT      float64 `json:"ect"`
}

func reallocationViewOf(r *client.Reallocation) reallocationView {
	n := &r.Round
	v := reallocationView{
		Schema: "drover.reallocation/1", Round: n.ID, Agent: n.Agent, Began: instant(n.Began), DryRun: n.DryRun,
		Algorithm: n.Algorithm, Heuristic: n.Heuristic, Window: n.Window, Sites: n.Sites, Waiting: n.Jobs, Held: n.Held, Kept: n.Kept,
		Moves: n.Moves, Failed: n.Failed, Later: n.Later, Questions: n.Questions, Estimates: n.Estimates, Gain: n.Gain.Seconds(),
		Thinking: n.Thinking.Seconds(), Asking: n.Asking.Seconds(), Took: n.Took.Seconds(),
		Jobs: []reallocatedView{}, Missing: []missingView{},
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		w := reallocatedView{
			Job: j.ID, Service: j.Service, From: j.From, To: j.To, Gain: j.Gain.Seconds(), Ordered: j.Ordered,
			Before: placedView{Width: j.Before.Width, Walltime: j.Before.Walltime.Seconds(), ECT: j.ECTBefore.Seconds()},
			After:  placedView{Width: j.After.Width, Walltime: j.After.Walltime.Seconds(), ECT: j.ECTAfter.Seconds()},
		}
		if j.Problem != nil {
			w.Reason, w.Message = string(j.Problem.Reason), j.Problem.Error()
		}
		v.Jobs = append(v.Jobs, w)
	}
	for i := range r.Missing {
		v.Missing = append(v.Missing, *missingViewOf(r.Missing[i].Site, &r.Missing[i].Missing))
	}
	return v
}
