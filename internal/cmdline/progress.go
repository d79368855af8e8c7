package cmdline

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/seed-9b8f70bb/drover/sim/campaign"
)

// ProgressBar shows on a terminal how far a command is. Elsewhere it shows nothing.
type ProgressBar struct {
	Process *Process
	Unit    string // what is counted: jobs, runs
	bar     *progressbar.ProgressBar
}

// Report shows that done of total units are done. A bar that cannot be drawn is no error.
func (p *ProgressBar) Report(done, total int) {
	if !p.Process.Terminal {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.Process.Stderr), progressbar.OptionSetDescription(p.Unit),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set(done)
}

// Finish removes the bar.
func (p *ProgressBar) Finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// CampaignProgress shows how far a campaign is: with a bar on a terminal, elsewhere with
// a line for each percent, at most one every five seconds.
type CampaignProgress struct {
	Process *Process
	Dir     string // of the results
	begun   bool
	percent int           // of the last line
	last    time.Duration // when it was written
	bar     *progressbar.ProgressBar
}

const progressInterval = 5 * time.Second

// Report shows the state of the campaign, now after its start. Output that cannot be
// written does not end the campaign.
func (s *CampaignProgress) Report(now time.Duration, p campaign.Progress) {
	if !s.begun {
		s.begun = true
		s.percent, s.last = 100*p.Done/p.Total, now
		_, _ = fmt.Fprintf(s.Process.Stderr, "%d experiments, %d of them done, in %s\n", p.Total, p.Done, s.Dir)
	}
	left := ""
	if p.Known {
		left = ", " + roughly(p.Left) + " left"
	}
	if s.Process.Terminal {
		if s.bar == nil {
			s.bar = progressbar.NewOptions(
				p.Total, progressbar.OptionSetWriter(s.Process.Stderr), progressbar.OptionShowCount(),
				progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish(),
			)
		}
		s.bar.Describe("experiments" + left)
		_ = s.bar.Set(p.Done)
		return
	}
	if percent := 100 * p.Done / p.Total; percent > s.percent && now-s.last >= progressInterval {
		s.percent, s.last = percent, now
		_, _ = fmt.Fprintf(s.Process.Stderr, "%d of %d experiments (%d%%)%s; the last was %v\n",
			p.Done, p.Total, percent, left, p.Last)
	}
}

// Finish removes the bar.
func (s *CampaignProgress) Finish() {
	if s.bar != nil {
		_ = s.bar.Finish()
	}
}

// roughly formats an estimate of the time left.
func roughly(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
}

// CampaignWorkers returns how many experiments the flag --jobs runs at a time; 0 (one for
// each core) if it is not given.
func CampaignWorkers(jobs *int) (int, error) {
	switch {
	case jobs == nil:
		return 0, nil
	case *jobs < 1 || *jobs > campaign.MaxWorkers:
		return 0, &UsageError{Message: fmt.Sprintf("--jobs: %d, accepted: 1..%d", *jobs, campaign.MaxWorkers)}
	}
	return *jobs, nil
}
