package main

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/client"
)

type logsCmd struct {
	Jobs   []string `arg:"" name:"job" complete:"jobs" help:"The jobs, printed one after the other: IDs or their beginnings, last, all, FROM..TO."`
	Follow bool     `short:"f" help:"Follow the log until the job has ended."`
	Stderr bool     `help:"Print standard error instead of standard output."`
}

func (c *logsCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.selectJobs(grid, c.Jobs, false)
	if err != nil {
		return err
	}
	return a.eachJob(jobs, func(id string) error {
		if !jobs.single && !a.flags.Quiet { // as head and tail do with several files
			if _, err := fmt.Fprintf(a.Stdout, "==> %s <==\n", id); err != nil {
				return err
			}
		}
		return grid.Logs(a.ctx, id, client.LogOptions{Stderr: c.Stderr, Follow: c.Follow}, a.Stdout)
	})
}
