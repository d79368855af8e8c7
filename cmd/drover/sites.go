package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type sitesCmd struct {
	Accuracy bool `help:"Show how accurate the estimates of each site were, by service."`
}

// sitesJSON is the JSON of sites: a ListSitesResponse without pages.
type sitesJSON struct {
	Sites []client.Site `json:"sites"`
}

func (c *sitesCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	list := grid.Sites
	if c.Accuracy {
		list = grid.Accuracy
	}
	sites, err := list(a.ctx)
	if err != nil {
		return err
	}
	switch {
	case a.flags.JSON:
		return cmdline.WriteJSON(a.Stdout, sitesJSON{append([]client.Site{}, sites...)})
	case a.flags.Quiet:
		for i := range sites {
			_, _ = fmt.Fprintln(a.Stdout, sites[i].Name)
		}
	case len(sites) == 0:
		_, _ = fmt.Fprintln(a.Stderr, "drover: no site known yet\n"+
			"hint: start a server with this agent as a gossip seed: drover server --config FILE --seed HOST:PORT")
	case c.Accuracy:
		printAccuracy(a, sites)
	default:
		printSites(a, sites)
	}
	return nil
}

func printSites(a *app, sites []client.Site) {
	t := cmdline.NewTable(a.Stdout, table.Row{
		"site", "policy", "processors", "speed", "running", "waiting", "load", "backlog", "note",
	},
		"processors", "speed", "running", "waiting", "load", "backlog")
	for i := range sites {
		s := &sites[i]
		notes := siteWarnings(s)
		row := table.Row{s.Name, s.Policy, s.Processors, s.Speed, "-", "-", "-", "-", ""}
		if q := s.Status; q != nil {
			copy(row[4:], table.Row{
				q.Running, q.Waiting, fmt.Sprintf("%.0f%%", 100*q.Load), fmt.Sprintf("%.0fs", q.Backlog),
			})
			g := &q.Agreements
			if broken := g.BrokenByUser + g.BrokenBySite; g.Kept+broken > 0 {
				notes = append(notes, fmt.Sprintf("agreements: %d kept, %d broken", g.Kept, broken))
			}
		}
		row[8] = strings.Join(notes, "; ")
		t.AppendRow(row)
	}
	t.Render()
}

// siteWarnings lists what is out of the ordinary at a site.
func siteWarnings(s *client.Site) []string {
	var notes []string
	if q := s.Status; q != nil && q.Draining {
		notes = append(notes, "draining")
	}
	if q := s.Status; q != nil && q.Degraded {
		notes = append(notes, "degraded: its disk is full or fails")
	}
	if q := s.Status; q != nil && q.LaunchProblem != "" {
		notes = append(notes, "launches fail: "+q.LaunchProblem)
	}
	if q := s.Status; q != nil && q.ClockOffset != 0 {
		notes = append(notes, fmt.Sprintf("its clock is %s off until a restart", cmdline.Span(q.ClockOffset)))
	}
	if q := s.Status; q != nil {
		for _, p := range q.ServiceProblems {
			text := p.Service + " delayed: "
			if p.Withdrawn > 0 {
				text = p.Service + " withdrawn: "
			}
			notes = append(notes, text+p.Reason)
		}
	}
	if m := s.Missing; m != nil {
		text := fmt.Sprintf("%s, last answer %s ago", m.Reason, cmdline.Span(s.HeardAgo))
		if m.Detail != nil {
			text += ": " + m.Detail.Error()
		}
		notes = append(notes, text)
	}
	return notes
}

// printAccuracy prints how accurate the estimates of all sites were.
func printAccuracy(a *app, sites []client.Site) {
	t := cmdline.NewTable(a.Stdout,
		table.Row{
			"site", "policy", "service", "estimate", "jobs", "start bias", "p50", "p90", "end bias", "p50", "p90",
			"run",
		},
		"jobs", "start bias", "p50", "p90", "end bias", "run")
	rows := 0
	for i := range sites {
		s := &sites[i]
		if s.Status == nil {
			t.AppendRow(table.Row{s.Name, s.Policy, "-", strings.Join(siteWarnings(s), "; ")})
			rows++
			continue
		}
		for _, e := range s.Status.Accuracy {
			t.AppendRow(table.Row{
				s.Name, s.Policy, e.Service, e.Kind, e.Jobs, signed(e.Start.Bias), cmdline.Span(e.Start.P50),
				cmdline.Span(e.Start.P90), signed(e.Completion.Bias), cmdline.Span(e.Completion.P50),
				cmdline.Span(e.Completion.P90), fmt.Sprintf("%.2f", e.RunRatio),
			})
			rows++
		}
	}
	if rows == 0 {
		_, _ = fmt.Fprintln(a.Stderr, "drover: no job has ended yet, so there is no estimate to compare")
		return
	}
	t.Render()
}

// signed formats an error of an estimate; positive is later than estimated.
func signed(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + cmdline.Span(-d)
	case d > 0:
		return "+" + cmdline.Span(d)
	}
	return cmdline.Span(0)
}

// missingText says why a site gave no answer.
func missingText(m *client.Missing) string {
	if m.Detail == nil {
		return m.Reason
	}
	return m.Reason + ": " + m.Detail.Error()
}

// warnMissing names the sites that did not answer on stderr. consequence says what that
// means for the command.
func warnMissing(a *app, missing []client.MissingSite, consequence string) {
	for i := range missing {
		m := &missing[i]
		why := m.Reason
		if m.Detail != nil {
			why = m.Detail.Error()
		}
		_, _ = fmt.Fprintf(a.Stderr, "drover: no answer from site %s (%s): %s\n", m.Site, why, consequence)
	}
}
