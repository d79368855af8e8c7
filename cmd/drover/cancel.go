package main

import (
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/parallel"
)

// cancelWorkers is how many jobs are cancelled at a time. The call for a job of a silent
// site lasts as long as patience; the others do not wait for it.
const cancelWorkers = 16

type cancelCmd struct {
	Jobs []string `arg:"" name:"job" complete:"active" help:"The jobs: IDs or their beginnings, last, all, FROM..TO."`
}

func (c *cancelCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.selectJobs(grid, c.Jobs, true)
	if err != nil {
		return err
	}
	type answer struct {
		job *client.Job
		err error
	}
	var errs jobErrors
	started := parallel.InOrder(a.ctx, cancelWorkers, jobs.ids, func(id string) (answer, bool) {
		j, err := grid.Cancel(a.ctx, id)
		return answer{j, err}, false
	}, func(i int, r answer) {
		if r.err == nil {
			r.err = a.printJob(r.job, jobs.single, string(r.job.State))
		}
		errs.add(a, jobs, jobs.ids[i], r.err)
	})
	if started < len(jobs.ids) {
		return a.ctx.Err()
	}
	return errs.first
}
