package main

import (
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/faults"
)

// simFaultsCmd is drover sim faults.
type simFaultsCmd struct {
	Seeds int     `default:"1000" placeholder:"N" help:"How many seeds to run."`
	From  uint64  `placeholder:"SEED" help:"The first seed."`
	Trace *uint64 `placeholder:"SEED" help:"Run only this seed, and print its events."`
	Plant string  `placeholder:"NAME" help:"Plant a bug in the simulated driver, which the checks must find: skip-sync, early-confirm, drop-on-silence, lease-is-proof, early-collection, kept-queue or no-withdraw."`
}

// faultsJSON is the JSON of sim faults.
type faultsJSON struct {
	Schema string         `json:"schema"`
	From   uint64         `json:"from"`
	Seeds  int            `json:"seeds"` // that were run
	Plant  string         `json:"plant,omitempty"`
	Wrong  *faultyJSON    `json:"wrong"` // null: none
	Trace  string         `json:"trace,omitempty"`
	Counts *faults.Counts `json:"counts"`
}

// faultyJSON is the first seed that violates a check.
type faultyJSON struct {
	Seed   uint64 `json:"seed"`
	What   string `json:"what"`
	Replay string `json:"replay"` // the command
}

// Run runs the seeds until one fails.
func (c *simFaultsCmd) Run(a *app) error {
	plant, err := faults.ParsePlant(c.Plant)
	switch {
	case err != nil:
		return &cmdline.UsageError{Message: "--" + err.Error()}
	case c.Seeds < 1:
		return &cmdline.UsageError{Message: fmt.Sprintf("--seeds: %d, accepted: 1 or more", c.Seeds)}
	}
	begin := time.Now()
	view := &faultsJSON{Schema: "drover.sim.faults/1", From: c.From, Plant: c.Plant, Counts: &faults.Counts{}}
	bar := &cmdline.ProgressBar{Process: a.Process, Unit: "seeds"}
	take := func(r *faults.Result) bool {
		view.Seeds++
		view.Counts.Add(&r.Counts)
		bar.Report(view.Seeds, c.Seeds)
		if view.Trace = r.Trace; r.Wrong != "" {
			view.Wrong = &faultyJSON{Seed: r.Seed, What: r.Wrong, Replay: c.replay(r.Seed)}
		}
		return r.Wrong == ""
	}
	if c.Trace != nil {
		view.From, c.Seeds = *c.Trace, 1
		r := faults.Trace(*c.Trace, plant)
		take(&r)
	} else {
		err = faults.Sweep(a.ctx, c.From, c.Seeds, plant, take)
	}
	bar.Finish()
	if err != nil {
		return err
	}
	if a.flags.JSON {
		err = cmdline.WriteJSON(a.Stdout, view)
	} else {
		err = view.print(a.Stdout)
	}
	if err != nil {
		return err
	}
	took := time.Since(begin).Seconds()
	if _, err := fmt.Fprintf(a.Stderr, "%d seeds in %.3f s: %.0f seeds/s\n", view.Seeds, took,
		float64(view.Seeds)/took); err != nil {
		return err
	}
	if view.Wrong != nil {
		return cmdline.ExitError(cmdline.ExitFailure)
	}
	return nil
}

// replay returns the command that replays a seed.
func (c *simFaultsCmd) replay(seed uint64) string {
	command := fmt.Sprintf("drover sim faults --trace %d", seed)
	if c.Plant != "" {
		command += " --plant " + c.Plant
	}
	return command
}

func (v *faultsJSON) print(w io.Writer) error {
	last := v.From + uint64(v.Seeds) - 1
	text := fmt.Sprintf("%sseeds %d to %d: nothing was lost, nothing ran twice\n", v.Trace, v.From, last)
	if v.Wrong != nil {
		text = fmt.Sprintf("%sseed %d: %s\nreplay: %s\n", v.Trace, v.Wrong.Seed, v.Wrong.What, v.Wrong.Replay)
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	t := cmdline.NewTable(w, row("what", "times"), "times")
	for _, k := range faults.Kinds() {
		t.AppendRow([]any{k.String(), fmt.Sprint(v.Counts[k])})
	}
	t.Render()
	return nil
}
