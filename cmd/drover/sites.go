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
	Accuracy bool `help:"Show how the estimates of each site were kept, by services."`
}

func (c *sitesCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	if c.Accuracy && !a.flags.Quiet {
		return showAccuracy(a, grid)
	}
	sites, err := grid.Sites(a.ctx)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		v := sitesView{Schema: "drover.sites/1", Sites: []siteView{}}
		for i := range sites {
			v.Sites = append(v.Sites, siteViewOf(&sites[i]))
		}
		return cmdline.WriteJSON(a.Stdout, v)
	}
	if a.flags.Quiet {
		for i := range sites {
			_, _ = fmt.Fprintln(a.Stdout, sites[i].Name)
		}
		return nil
	}
	t := cmdline.NewTable(a.Stdout, table.Row{"site", "policy", "processors", "speed", "running", "waiting", "load", "backlog", "note"},
		"processors", "speed", "running", "waiting", "load", "backlog")
	for i := range sites {
		s := &sites[i]
		row := table.Row{s.Name, s.Policy, s.Processors, s.Speed, "-", "-", "-", "-", ""}
		if q := s.Status; q != nil {
			copy(row[4:], table.Row{q.Running, q.Waiting, fmt.Sprintf("%.0f%%", 100*q.Load), fmt.Sprintf("%.0fs", q.Backlog)})
		}
		row[8] = note(s)
		t.AppendRow(row)
	}
	if len(sites) == 0 {
		noSiteKnown(a)
		return nil
	}
	t.Render()
	return nil
}

// note tells what is special about a site.
func note(s *client.Site) string {
	notes := condition(s)
	if q := s.Status; q != nil && q.Agreements.Kept+q.Agreements.BrokenByUser+q.Agreements.BrokenBySite > 0 {
		notes = append(notes, fmt.Sprintf("agreements: %d kept, %d broken", q.Agreements.Kept, q.Agreements.BrokenByUser+q.Agreements.BrokenBySite))
	}
	return strings.Join(notes, "; ")
}

// condition tells what is out of the ordinary at a site.
func condition(s *client.Site) []string {
	var notes []string
	if q := s.Status; q != nil && q.Draining {
		notes = append(notes, "draining")
	}
	if q := s.Status; q != nil && q.Degraded {
		notes = append(notes, "degraded: its disk is full or fails")
	}
	if m := missingViewOf(s.Name, s.Missing); m != nil {
		notes = append(notes, fmt.Sprintf("%s, last heard %s ago: %s", m.Reason, cmdline.Span(s.HeardAgo), m.Message))
	}
	return notes
}

// noSiteKnown tells why a list is empty.
func noSiteKnown(a *app) {
	_, _ = fmt.Fprintln(a.Stderr, "drover: no site known yet\nhint: start a server whose gossip seeds name this agent: drover server --config FILE --seed HOST:PORT")
}

func siteViewOf(s *client.Site) siteView {
	v := siteView{
		Name: s.Name, Address: s.Address, Policy: s.Policy, Processors: s.Processors, Nodes: len(s.Nodes), Speed: s.Speed,
		HeardAgo: s.HeardAgo.Seconds(), Missing: missingViewOf(s.Name, s.Missing),
	}
	v.Status, v.Agreed = statusViewOf(s.Status), agreementsViewOf(s.Status)
	return v
}

// statusViewOf returns the view of a site's queue, nil for none.
func statusViewOf(q *client.Status) *statusView {
	if q == nil {
		return nil
	}
	return &statusView{
		Running: q.Running, Waiting: q.Waiting, Busy: q.Busy, Load: q.Load, Backlog: q.Backlog, Ended: q.Ended,
		Draining: q.Draining, Degraded: q.Degraded, Commits: q.Commits, Syncs: q.Syncs, Bound: q.Bound,
		Data: dataUsageViewOf(q.Data),
	}
}

type servicesCmd struct {
	Service string `arg:"" optional:"" complete:"service" help:"One service, with its arguments."`
}

func (c *servicesCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	var services []client.Service
	if c.Service != "" {
		s, err := grid.Service(a.ctx, c.Service)
		if err != nil {
			return err
		}
		services = append(services, *s)
	} else if services, err = grid.Services(a.ctx); err != nil {
		return err
	}
	if a.flags.JSON {
		v := servicesView{Schema: "drover.services/1", Services: []serviceView{}}
		for i := range services {
			v.Services = append(v.Services, serviceViewOf(&services[i]))
		}
		return cmdline.WriteJSON(a.Stdout, v)
	}
	if a.flags.Quiet {
		for i := range services {
			_, _ = fmt.Fprintln(a.Stdout, services[i].Name)
		}
		return nil
	}
	if len(services) == 0 {
		_, _ = fmt.Fprintln(a.Stderr, "drover: no service known yet: no site has joined, or none is up\nhint: drover sites lists the sites")
		return nil
	}
	t := cmdline.NewTable(a.Stdout, table.Row{"service", "widths", "sites", "does"})
	for _, s := range services {
		widths := fmt.Sprintf("%d..%d", s.MinWidth, s.MaxWidth)
		if s.MinWidth == s.MaxWidth {
			widths = fmt.Sprint(s.MinWidth)
		}
		t.AppendRow(table.Row{s.Name, widths, strings.Join(s.Sites, " "), s.Doc})
	}
	t.Render()
	if c.Service == "" {
		return nil
	}
	_, _ = fmt.Fprintln(a.Stdout)
	t = cmdline.NewTable(a.Stdout, table.Row{"argument", "type", "accepted", "default", "means"})
	for _, arg := range services[0].Arguments {
		given := arg.Default
		switch {
		case arg.Required:
			given = "(required)"
		case arg.Type.Written():
			given = "(not brought)"
		}
		t.AppendRow(table.Row{arg.Name, arg.Type, accepted(&arg), given, arg.Doc})
	}
	t.Render()
	return nil
}

func accepted(a *client.Argument) string {
	switch {
	case len(a.Choices) > 0:
		return strings.Join(a.Choices, ", ")
	case a.Minimum != "" || a.Maximum != "":
		return a.Minimum + ".." + a.Maximum
	}
	return takes(a)
}

func serviceViewOf(s *client.Service) serviceView {
	v := serviceView{
		Name: s.Name, Doc: s.Doc, Arguments: []argumentView{}, MinWidth: s.MinWidth, MaxWidth: s.MaxWidth, Moldable: s.Moldable,
		Memory: s.Memory, Sites: s.Sites,
	}
	for _, arg := range s.Arguments {
		v.Arguments = append(v.Arguments, argumentView(arg))
	}
	return v
}

type accuracyView struct {
	Schema string             `json:"schema"`
	Sites  []siteAccuracyView `json:"sites"`
}

type siteAccuracyView struct {
	Name     string                `json:"name"`
	Policy   string                `json:"policy"`
	Services []serviceAccuracyView `json:"services"`
	Missing  *missingView          `json:"missing,omitempty"`
}

type serviceAccuracyView struct {
	Service    string              `json:"service"`
	Kind       client.EstimateKind `json:"kind"`
	Jobs       int                 `json:"jobs"`
	Start      errorsView          `json:"start"`
	Completion errorsView          `json:"completion"`
	RunRatio   float64             `json:"run_ratio"`
}

type errorsView struct {
	Bias   float64 `json:"bias"`
	Median float64 `json:"median"`
	P50    float64 `json:"p50"`
	P90    float64 `json:"p90"`
}

// showAccuracy prints how the estimates of all sites were kept.
func showAccuracy(a *app, grid *client.Client) error {
	sites, err := grid.Accuracy(a.ctx)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, accuracyViewOf(sites))
	}
	t := cmdline.NewTable(a.Stdout, table.Row{"site", "policy", "service", "estimate", "jobs", "start bias", "p50", "p90", "end bias", "p50", "p90", "run"},
		"jobs", "start bias", "p50", "p90", "end bias", "run")
	rows := 0
	for i := range sites {
		s := &sites[i]
		if s.Status == nil {
			t.AppendRow(table.Row{s.Name, s.Policy, "-", note(s)})
			rows++
			continue
		}
		for _, e := range s.Status.Accuracy {
			t.AppendRow(table.Row{
				s.Name, s.Policy, e.Service, e.Kind, e.Jobs, signed(e.Start.Bias), cmdline.Span(e.Start.P50), cmdline.Span(e.Start.P90),
				signed(e.Completion.Bias), cmdline.Span(e.Completion.P50), cmdline.Span(e.Completion.P90), fmt.Sprintf("%.2f", e.RunRatio),
			})
			rows++
		}
	}
	if rows == 0 {
		_, _ = fmt.Fprintln(a.Stderr, "drover: no job has ended yet by which estimates could be judged")
		return nil
	}
	t.Render()
	return nil
}

// signed writes an error with its sign: what came later than estimated is positive.
func signed(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + cmdline.Span(-d)
	case d > 0:
		return "+" + cmdline.Span(d)
	}
	return cmdline.Span(0)
}

func accuracyViewOf(sites []client.Site) accuracyView {
	v := accuracyView{Schema: "drover.accuracy/1", Sites: []siteAccuracyView{}}
	for i := range sites {
		s := &sites[i]
		one := siteAccuracyView{Name: s.Name, Policy: s.Policy, Services: []serviceAccuracyView{}, Missing: missingViewOf(s.Name, s.Missing)}
		if s.Status != nil {
			for _, e := range s.Status.Accuracy {
				one.Services = append(one.Services, serviceAccuracyView{
					Service: e.Service, Kind: e.Kind, Jobs: e.Jobs, Start: errorsViewOf(e.Start), Completion: errorsViewOf(e.Completion), RunRatio: e.RunRatio,
				})
			}
		}
		v.Sites = append(v.Sites, one)
	}
	return v
}

func errorsViewOf(e client.Errors) errorsView {
	return errorsView{Bias: e.Bias.Seconds(), Median: e.Median.Seconds(), P50: e.P50.Seconds(), P90: e.P90.Seconds()}
}
