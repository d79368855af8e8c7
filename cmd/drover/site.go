package main

import (
	"fmt"
	"strings"
	"time"

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
	list := &client.ReservationList{}
	if s.Status != nil {
		if list, err = grid.Reservations(a.ctx, client.ReservationFilter{State: "active", Site: c.Site}); err != nil {
			return err
		}
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, siteDetailOf(s, list.Reservations))
	}
	if a.flags.Quiet {
		_, err := fmt.Fprintln(a.Stdout, s.Name)
		return err
	}
	t := cmdline.NewTable(a.Stdout, nil)
	row := func(name, format string, args ...any) { t.AppendRow(table.Row{name, fmt.Sprintf(format, args...)}) }
	row("site", "%s", s.Name)
	row("address", "%s", s.Address)
	row("policy", "%s", s.Policy)
	row("processors", "%d in %s, speed %g", s.Processors, plural(len(s.Nodes), "node"), s.Speed)
	row("capabilities", "%s", strings.Join(s.Capabilities, " "))
	if c := condition(&s.Site); len(c) > 0 {
		row("note", "%s", strings.Join(c, "; "))
	}
	if q := s.Status; q != nil {
		row("queue", "%d running on %s (%.0f%%), %d waiting, backlog %.0fs", q.Running, processors(q.Busy), 100*q.Load, q.Waiting, q.Backlog)
		if q.Bound > 0 {
			row("bound", "%d of those that wait have an agreement, or are in a reservation", q.Bound)
		}
		row("agreements", "%s", counted(&q.Agreements))
		row("data", "%s", usageOf(q.Data))
	}
	p := s.PolicyState
	if p != nil {
		if p.Active != "" {
			row("follows", "%s", p.Active)
		} else {
			row("so far", "")
		}
		for _, f := range p.Figures {
			row("  "+f.Name, "%.6g", f.Value)
		}
	}
	t.Render()
	if len(list.Reservations) > 0 {
		_, _ = fmt.Fprintln(a.Stdout)
		reservationTable(a, list.Reservations).Render()
	}
	if p != nil && len(p.Switches) > 0 {
		_, _ = fmt.Fprintln(a.Stdout)
		t := cmdline.NewTable(a.Stdout, table.Row{"switched", "from", "to", "because of"})
		for _, w := range p.Switches {
			t.AppendRow(table.Row{day(w.At), w.From, w.To, figures(w.Values)})
		}
		t.Render()
	}
	return nil
}

// counted tells what has become of a site's agreements.
func counted(a *client.Agreements) string {
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

func figures(list []client.Figure) string {
	var all []string
	for _, f := range list {
		all = append(all, fmt.Sprintf("%s %.6g", f.Name, f.Value))
	}
	return strings.Join(all, ", ")
}

// spanOf returns a time for people, "-" for none.
func spanOf(s *float64) string {
	if s == nil {
		return "-"
	}
	return cmdline.Span(time.Duration(*s * float64(time.Second)))
}

// count returns a number for people, "-" for 0.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

type siteDetailView struct {
	Schema string `json:"schema"`
	siteView
	Capabilities []string          `json:"capabilities"`
	Reservations []reservationView `json:"reservations"`
	PolicyState  *policyStateView  `json:"policy_state,omitempty"`
}

type agreementsView struct {
	Accepted     int64   `json:"accepted"`
	Kept         int64   `json:"kept"`
	BrokenByUser int64   `json:"broken_by_user"`
	BrokenBySite int64   `json:"broken_by_site"`
	Void         int64   `json:"void"`
	Value        float64 `json:"value"`
	Penalty      float64 `json:"penalty"`
}

type policyStateView struct {
	Active   string             `json:"active"`
	Figures  []figureView       `json:"figures"`
	Switches []policySwitchView `json:"switches"`
}

type policySwitchView struct {
	At     *time.Time   `json:"at"`
	From   string       `json:"from"`
	To     string       `json:"to"`
	Values []figureView `json:"values"`
}

type figureView struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

func agreementsViewOf(q *client.Status) *agreementsView {
	if q == nil {
		return nil
	}
	v := agreementsView(q.Agreements)
	return &v
}

func figureViewsOf(list []client.Figure) []figureView {
	v := []figureView{}
	for _, f := range list {
		v = append(v, figureView(f))
	}
	return v
}

func siteDetailOf(s *client.SiteDetail, list []client.Reservation) siteDetailView {
	v := siteDetailView{
		Schema: "drover.site/1", siteView: siteViewOf(&s.Site), Capabilities: s.Capabilities,
		Reservations: []reservationView{},
	}
	for i := range list {
		v.Reservations = append(v.Reservations, reservationViewOf(&list[i]))
	}
	if p := s.PolicyState; p != nil {
		v.PolicyState = &policyStateView{Active: p.Active, Figures: figureViewsOf(p.Figures), Switches: []policySwitchView{}}
		for _, w := range p.Switches {
			v.PolicyState.Switches = append(v.PolicyState.Switches, policySwitchView{
				At: instant(w.At), From: w.From, To: w.To, Values: figureViewsOf(w.Values),
			})
		}
	}
	return v
}
