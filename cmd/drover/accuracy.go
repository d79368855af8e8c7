package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/client"
)

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
		return writeJSON(a.stdout, accuracyViewOf(sites))
	}
	t := newTable(a.stdout, table.Row{"site", "policy", "service", "estimate", "jobs", "start bias", "p50", "p90", "end bias", "p50", "p90", "run"},
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
				s.Name, s.Policy, e.Service, e.Kind, e.Jobs, signed(e.Start.Bias), span(e.Start.P50), span(e.Start.P90),
				signed(e.Completion.Bias), span(e.Completion.P50), span(e.Completion.P90), fmt.Sprintf("%.2f", e.RunRatio),
			})
			rows++
		}
	}
	if rows == 0 {
		_, _ = fmt.Fprintln(a.stderr, "drover: no job has ended yet by which estimates could be judged")
		return nil
	}
	t.Render()
	return nil
}

// signed writes an error with its sign: what came later than estimated is positive.
func signed(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d > 0:
		return "+" + span(d)
	}
	return span(0)
}

func accuracyViewOf(sites []client.Site) accuracyView {
	v := accuracyView{Schema: "drover.accuracy/1", Sites: []siteAccuracyView{}}
	for i := range sites {
		s := &sites[i]
		one := siteAccuracyView{Name: s.Name, Policy: s.Policy, Services: []serviceAccuracyView{}, Missing: missingViewOf(s.Missing)}
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
