package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// campaignProgress tells how far a campaign is: by a bar on a terminal, elsewhere
// by a line for each percent, but no more often than tellEach.
type campaignProgress struct {
	process *process
	dir     string
	begun   bool
	percent int           // that were told
	told    time.Duration // when
	bar     *progressbar.ProgressBar
}

const tellEach = 5 * time.Second

// report hears of the campaign. What cannot be shown is no reason to end it.
func (s *campaignProgress) report(now time.Duration, p campaign.Progress) {
	if !s.begun {
		s.begun = true
		s.percent, s.told = 100*p.Done/p.Total, now
		_, _ = fmt.Fprintf(s.process.stderr, "%d experiments, %d of them done, in %s\n", p.Total, p.Done, s.dir)
	}
	left := ""
	if p.Known {
		left = ", " + about(p.Left) + " left"
	}
	if s.process.terminal {
		if s.bar == nil {
			s.bar = progressbar.NewOptions(
				p.Total, progressbar.OptionSetWriter(s.process.stderr), progressbar.OptionShowCount(),
				progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish(),
			)
		}
		s.bar.Describe("experiments" + left)
		_ = s.bar.Set(p.Done)
		return
	}
	if percent := 100 * p.Done / p.Total; percent > s.percent && now-s.told >= tellEach {
		s.percent, s.told = percent, now
		_, _ = fmt.Fprintf(s.process.stderr, "%d of %d experiments (%d%%)%s; the last was %v\n", p.Done, p.Total, percent, left, p.Last)
	}
}

// about writes a guessed time as exactly as it deserves.
func about(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
}

func (s *campaignProgress) finish() {
	if s.bar != nil {
		_ = s.bar.Finish()
	}
}
