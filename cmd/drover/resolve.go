package main

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type resolveCmd struct {
	Job    string `arg:"" complete:"job" help:"The job: its ID or the beginning, or last."`
	As     string `arg:"" enum:"committed,aborted,take-back" help:"What is declared: ${enum}."`
	At     string `required:"" placeholder:"SITE" complete:"site" help:"The site at which it is declared."`
	Epoch  uint32 `required:"" help:"Of the move; drover moves --job JOB shows it."`
	Reason string `help:"Your word for the record."`
	Yes    bool   `help:"Do it. Without this it is only explained."`
}

// settlements says of each settlement what it does, and what it costs when the
// site that was declared lost had done the opposite.
var settlements = map[client.SettleAs]struct{ does, risks, look string }{
	client.SettleCommitted: {
		"the source has handed the job over: if %[1]s is the target, it will wait and run there;\n             if %[1]s is the source, it forgets the job, which somebody else has",
		"at the target: if the source has kept the job, it runs twice;\n             at the source: if nobody else has the job, it is lost",
		"look at the other site's disk first: drover.db in its data directory, or the job's directory there, say whether it has run",
	},
	client.SettleAborted: {
		"the source has kept the job: it is dropped at %[1]s",
		"if the source has handed the job over, it is lost: nobody has it then",
		"look whether the source has the job: start its server, if its disk can still be read",
	},
	client.SettleTakeBack: {
		"the target is lost: the job will wait at %[1]s again, and run there",
		"if the target has the job, it runs twice",
		"look at the target's disk first: the job's directory there says whether it has run",
	},
}

func (c *resolveCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	if c.Job, err = a.chooseOne(grid, c.Job, true); err != nil {
		return err
	}
	as := client.SettleAs(c.As)
	if !c.Yes {
		return c.explain(a, grid, as)
	}
	job, err := grid.Settle(a.ctx, c.At, client.Settlement{Job: c.Job, Epoch: c.Epoch, As: as, Reason: c.Reason})
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, one(job))
	}
	if a.flags.Quiet {
		_, err = fmt.Fprintln(a.Stdout, job.ID)
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s at %s: %s\n", c.Job, c.At, job.State)
	return err
}

// explain tells what the declaration would mean, as far as that can be known.
func (c *resolveCmd) explain(a *app, grid *client.Client, as client.SettleAs) error {
	text := settlements[as]
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(a.Stderr, format+"\n", args...) }
	say("drover resolve is the last resort for a job whose move cannot be finished,\nbecause one of its two sites is lost for ever. A site that only does not answer\nnow is not lost: its server settles the move by itself when it is back.\n")
	if list, err := grid.Moves(a.ctx, client.MoveFilter{Job: c.Job}); err != nil {
		say("what is known of the move: nothing (%v)", err)
	} else {
		found := false
		for i := range list.Moves {
			if m := &list.Moves[i]; m.Epoch == c.Epoch {
				found = true
				say("the move:    from %s to %s, ordered at %s, %s", m.From, m.To, clock(m.Ordered), outcomeOf(m))
			}
		}
		if !found {
			say("the move:    no site that answers knows of one with epoch %d", c.Epoch)
		}
		silent(a, list.Missing, "it may know more")
	}
	if sites, err := grid.Sites(a.ctx); err == nil {
		for i := range sites {
			if s := &sites[i]; s.Missing != nil {
				say("silent site: %s, last heard %s ago", s.Name, cmdline.Span(s.HeardAgo))
			}
		}
	}
	if job, err := grid.Job(a.ctx, c.Job); err == nil {
		known := ""
		if job.UnknownFor > 0 {
			known = fmt.Sprintf(", as heard %s ago", cmdline.Span(job.UnknownFor))
		}
		say("the job:     %s at %s, epoch %d%s", job.State, job.Site, job.Epoch, known)
		if job.Site == c.At && job.UnknownFor == 0 && (job.State != client.Incoming || job.Epoch != c.Epoch || as == client.SettleTakeBack) {
			say("it would be refused: %s", c.misfit(job, as))
		}
	} else {
		say("the job:     %v", err)
	}
	say("it declares: %s", fmt.Sprintf(text.does, c.At))
	say("it risks:    %s", text.risks)
	say("before:      %s\n", text.look)
	return &cmdline.UsageError{Message: "nothing was done", Hint: "the same with --yes does it"}
}

// misfit says why a site that has the job would refuse a declaration.
func (c *resolveCmd) misfit(job *client.Job, as client.SettleAs) string {
	switch {
	case job.State == client.Moving || job.State == client.Yielding:
		return "the job is still at its source, which ends the move by itself; drover cancel works, too"
	case as == client.SettleTakeBack:
		return fmt.Sprintf("a job is taken back by a site that it has left, and it is %s there", job.State)
	case job.State != client.Incoming:
		return fmt.Sprintf("no move to be settled: the job is %s there", job.State)
	}
	return fmt.Sprintf("the move to be settled has epoch %d", job.Epoch)
}
