package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// simCampaignCmd is drover sim campaign.
type simCampaignCmd struct {
	Campaign string `arg:"" help:"A campaign file (YAML), or one that comes with Drover: paper or full."`
	Out      string `placeholder:"DIR" help:"Where the results are, and from which an interrupted campaign goes on. Default: campaign- and its name."`
	Jobs     *int   `placeholder:"N" help:"Experiments at a time. Default: one for each core."`
	Quick    bool   `help:"Run a small part, in under a minute on two cores."`
}

// simCampaignView is what --json prints.
type simCampaignView struct {
	Schema      string   `json:"schema"`
	Campaign    string   `json:"campaign"`
	Results     string   `json:"results"` // the file
	Experiments int      `json:"experiments"`
	References  int      `json:"references"` // among them
	Resumed     int      `json:"resumed"`    // that were done before
	Cut         []string `json:"cut"`        // by --quick
}

// Run runs what is not done yet of a campaign.
func (c *simCampaignCmd) Run(a *app) error {
	workers, err := campaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	begin := time.Now()
	set, err := campaign.Load(c.Campaign)
	if err != nil {
		return err
	}
	dir := "campaign-" + set.Name
	var cut []string
	if c.Quick {
		set, cut = set.Quick()
		dir += "-quick"
		if _, err := fmt.Fprintf(a.stderr, "quick: only %s\n", strings.Join(cut, ", ")); err != nil {
			return err
		}
	}
	if c.Out != "" {
		dir = c.Out
	}
	show := &campaignProgress{process: a.process, dir: dir}
	clock := func() time.Duration { return time.Since(begin) }
	report, err := campaign.Run(a.ctx, set, campaign.Options{
		Dir: dir, Workers: workers, Clock: clock, Progress: func(p campaign.Progress) { show.report(clock(), p) },
	})
	show.finish()
	if err != nil {
		return err
	}
	view := &simCampaignView{
		Schema: "drover.sim.campaign/1", Campaign: set.Name, Results: filepath.Join(dir, campaign.ResultsName),
		Experiments: report.Experiments, References: report.References, Resumed: report.Resumed, Cut: cut,
	}
	if a.flags.JSON {
		err = writeJSON(a.stdout, view)
	} else {
		_, err = fmt.Fprintf(a.stdout, "%d experiments, %d of them references: %s\n", view.Experiments, view.References, view.Results)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stderr, "%d experiments in %.1f s\n", report.Experiments-report.Resumed, time.Since(begin).Seconds())
	return err
}

// campaignWorkers returns how many experiments --jobs has run at a time, 0 for as
// many as there are cores.
func campaignWorkers(jobs *int) (int, error) {
	switch {
	case jobs == nil:
		return 0, nil
	case *jobs < 1 || *jobs > campaign.MaxWorkers:
		return 0, &usageError{message: fmt.Sprintf("--jobs: %d, accepted: 1..%d", *jobs, campaign.MaxWorkers)}
	}
	return *jobs, nil
}

// campaignExit returns the exit code of an error of a campaign, 0 for others.
func campaignExit(err error) int {
	var (
		file     *campaign.FileError
		unknown  *campaign.UnknownError
		locked   *campaign.LockedError
		mismatch *campaign.MismatchError
		changed  *campaign.ChangedError
		damaged  *campaign.DamagedError
	)
	switch {
	case errors.As(err, &file):
		return exitConfig
	case errors.As(err, &unknown):
		return exitNotFound
	case errors.As(err, &locked):
		return exitUnavailable
	case errors.As(err, &mismatch), errors.As(err, &changed), errors.As(err, &damaged):
		return exitRefused
	}
	return 0
}
