package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type siteCmd struct {
	Site string `arg:"" complete:"site" help:"Name of the site."`
}

func (c *siteCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	s, err := grid.Site(a.ctx, c.Site)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, s)
	}
	if a.flags.Quiet {
		_, err := fmt.Fprintln(a.Stdout, s.Name)
		return err
	}
	list := &client.ReservationList{}
	if s.Status != nil {
		if list, err = grid.Reservations(a.ctx, client.ReservationFilter{State: "active", Site: c.Site}); err != nil {
			return err
		}
	}
	printSite(a, s)
	if len(list.Reservations) > 0 {
		_, _ = fmt.Fprintln(a.Stdout)
		reservationTable(a, list.Reservations).Render()
	}
	if p := s.PolicyState; p != nil && len(p.Switches) > 0 {
		_, _ = fmt.Fprintln(a.Stdout)
		t := cmdline.NewTable(a.Stdout, table.Row{"switched", "from", "to", "because of"})
		for _, w := range p.Switches {
			t.AppendRow(table.Row{day(w.At), w.From, w.To, figuresText(w.Values)})
		}
		t.Render()
	}
	return nil
}

func printSite(a *app, s *client.SiteDetail) {
	t := cmdline.NewTable(a.Stdout, nil)
	row := func(name, format string, args ...any) { t.AppendRow(table.Row{name, fmt.Sprintf(format, args...)}) }
	row("site", "%s", s.Name)
	row("address", "%s", s.Address)
	row("policy", "%s", s.Policy)
	row("processors", "%d in %s, speed %g", s.Processors, plural(len(s.Nodes), "node"), s.Speed)
	row("capabilities", "%s", strings.Join(s.Capabilities, " "))
	if w := siteWarnings(&s.Site); len(w) > 0 {
		row("note", "%s", strings.Join(w, "; "))
	}
	if q := s.Status; q != nil {
		row("queue", "%d running on %s (%.0f%%), %d waiting, backlog %.0fs",
			q.Running, processors(q.Busy), 100*q.Load, q.Waiting, q.Backlog)
		if q.Bound > 0 {
			row("bound", "%d waiting jobs with an agreement or in a reservation", q.Bound)
		}
		row("agreements", "%s", agreementsText(&q.Agreements))
		row("data", "%s", dataUsageText(q.Data))
	}
	if p := s.PolicyState; p != nil {
		if p.Active != "" {
			row("follows", "%s", p.Active)
		} else {
			row("figures", "")
		}
		for _, f := range p.Figures {
			row("  "+f.Name, "%.6g", f.Value)
		}
	}
	t.Render()
}

// agreementsText counts a site's agreements by state.
func agreementsText(a *client.Agreements) string {
	if a.Accepted == 0 {
		return "none yet"
	}
	open := a.Accepted - a.Kept - a.BrokenByUser - a.BrokenBySite - a.Void
	text := fmt.Sprintf("%d made: %d open, %d kept, %d broken by the site, %d by the user, %d void",
		a.Accepted, open, a.Kept, a.BrokenBySite, a.BrokenByUser, a.Void)
	if a.Value > 0 || a.Penalty > 0 {
		text += fmt.Sprintf("; value %g, penalties %g", a.Value, a.Penalty)
	}
	return text
}

func figuresText(list []client.Figure) string {
	var all []string
	for _, f := range list {
		all = append(all, fmt.Sprintf("%s %.6g", f.Name, f.Value))
	}
	return strings.Join(all, ", ")
}
