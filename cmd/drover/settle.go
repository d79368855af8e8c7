package main

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type settleCmd struct {
	Job    string `arg:"" complete:"job" help:"The job: its ID or the beginning, or last."`
	As     string `arg:"" name:"outcome" enum:"committed,aborted,take-back" help:"The outcome to declare: ${enum}."`
	At     string `required:"" placeholder:"SITE" complete:"site" help:"The site at which to declare it."`
	Epoch  uint32 `placeholder:"N" required:"" help:"Epoch of the move; drover moves --job JOB shows it."`
	Reason string `placeholder:"TEXT" help:"Reason for the record."`
	Yes    bool   `help:"Declare it. Without this flag the command only explains the consequences."`
}

// settlements explains each declaration: what it does, what it risks if the lost site has
// done the opposite, and how to find out.
var settlements = map[client.SettleAs]struct{ does, risks, check string }{
	client.SettleCommitted: {
		"the source has handed the job over: if %[1]s is the target, the job waits and runs there;\n" +
			"             if %[1]s is the source, it forgets the job, because another site has it",
		"at the target: if the source has kept the job, it runs twice;\n" +
			"             at the source: if no other site has the job, it is lost",
		"look at the other site's disk: drover.db in its data directory, or the job's directory there, says whether " +
			"it has run",
	},
	client.SettleAborted: {
		"the source has kept the job: %s drops it",
		"if the source has handed the job over, it is lost",
		"look whether the source has the job: start its server if its disk is still readable",
	},
	client.SettleTakeBack: {
		"the target is lost: the job waits at %s again and runs there",
		"if the target has the job, it runs twice",
		"look at the target's disk: the job's directory there says whether it has run",
	},
}

func (c *settleCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	if c.Job, err = a.selectJob(grid, c.Job, true); err != nil {
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
	return a.printJob(job, true, fmt.Sprintf("%s at %s: %s", c.Job, c.At, job.State))
}

// explain prints what is known about the move and what the declaration would mean.
func (c *settleCmd) explain(a *app, grid *client.Client, as client.SettleAs) error {
	text := settlements[as]
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(a.Stderr, format+"\n", args...) }
	say("drover settle is the last resort for a job whose move cannot complete, because one\n" +
		"of its two sites is permanently lost. Do not use it for a site that is only silent:\n" +
		"its server settles the move itself when it is back.\n")
	if list, err := grid.Moves(a.ctx, client.MoveFilter{Job: c.Job}); err != nil {
		say("the move:    unknown (%v)", err)
	} else {
		found := false
		for i := range list.Moves {
			if m := &list.Moves[i]; m.Epoch == c.Epoch {
				found = true
				say("the move:    from %s to %s, ordered at %s, %s", m.From, m.To, clock(m.Ordered), moveStateText(m))
			}
		}
		if !found {
			say("the move:    no site that answers has one with epoch %d", c.Epoch)
		}
		warnMissing(a, list.Missing, "it may know more")
	}
	if sites, err := grid.Sites(a.ctx); err == nil {
		for i := range sites {
			if s := &sites[i]; s.Missing != nil {
				say("silent site: %s, last answer %s ago", s.Name, cmdline.Span(s.HeardAgo))
			}
		}
	}
	if job, err := grid.Job(a.ctx, c.Job); err == nil {
		age := ""
		if job.UnknownFor > 0 {
			age = fmt.Sprintf(", as of %s ago", cmdline.Span(job.UnknownFor))
		}
		say("the job:     %s at %s, epoch %d%s", job.State, job.Site, job.Epoch, age)
		wrong := job.State != client.Incoming || job.Epoch != c.Epoch || as == client.SettleTakeBack
		if job.Site == c.At && job.UnknownFor == 0 && wrong {
			say("the site would refuse: %s", c.refusal(job, as))
		}
	} else {
		say("the job:     %v", err)
	}
	say("it declares: %s", fmt.Sprintf(text.does, c.At))
	say("it risks:    %s", text.risks)
	say("first:       %s\n", text.check)
	return &cmdline.UsageError{Message: "nothing was done", Hint: "add --yes to declare it"}
}

// refusal says why a site that has the job would refuse the declaration.
func (c *settleCmd) refusal(job *client.Job, as client.SettleAs) string {
	switch {
	case job.State == client.Moving || job.State == client.Yielding:
		return "the job is still at its source, which ends the move itself; drover cancel works too"
	case as == client.SettleTakeBack:
		return fmt.Sprintf("only a site that the job has left can take it back, and here it is %s", job.State)
	case job.State != client.Incoming:
		return fmt.Sprintf("there is no move to settle: the job is %s here", job.State)
	}
	return fmt.Sprintf("the move to settle has epoch %d", job.Epoch)
}
