package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// simCampaignCmd is drover sim campaign.
type simCampaignCmd struct {
	Campaign string `arg:"" help:"A campaign file (YAML), or one that comes with Drover: paper or full."`
	Out      string `placeholder:"DIR" help:"Directory of the results, from which an interrupted campaign resumes. Default: campaign- and its name."`
	Jobs     *int   `placeholder:"N" help:"Experiments at a time. Default: one for each core."`
	Quick    bool   `help:"Run a small part, in under a minute on two cores."`
}

// campaignJSON is the JSON of sim campaign.
type campaignJSON struct {
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
	workers, err := cmdline.CampaignWorkers(c.Jobs)
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
		if _, err := fmt.Fprintf(a.Stderr, "quick: only %s\n", strings.Join(cut, ", ")); err != nil {
			return err
		}
	}
	if c.Out != "" {
		dir = c.Out
	}
	show := &cmdline.CampaignProgress{Process: a.Process, Dir: dir}
	clock := func() time.Duration { return time.Since(begin) }
	report, err := campaign.Run(a.ctx, set, campaign.Options{
		Dir: dir, Workers: workers, Clock: clock, Progress: func(p campaign.Progress) { show.Report(clock(), p) },
	})
	show.Finish()
	if err != nil {
		return err
	}
	view := &campaignJSON{
		Schema: "drover.sim.campaign/1", Campaign: set.Name, Results: filepath.Join(dir, campaign.ResultsName),
		Experiments: report.Experiments, References: report.References, Resumed: report.Resumed, Cut: cut,
	}
	if a.flags.JSON {
		err = cmdline.WriteJSON(a.Stdout, view)
	} else {
		_, err = fmt.Fprintf(a.Stdout, "%d experiments, %d of them references: %s\n", view.Experiments, view.References,
			view.Results)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stderr, "%d experiments in %.1f s\n", report.Experiments-report.Resumed,
		time.Since(begin).Seconds())
	return err
}
