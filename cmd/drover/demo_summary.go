package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-9b8f70bb/drover/client"
)

// demoView is the summary of a demo. Times are seconds.
type demoView struct {
	Schema   string         `json:"schema"`
	Seed     uint64         `json:"seed"`
	Jobs     int            `json:"jobs"`
	Done     int            `json:"done"`
	Makespan float64        `json:"makespan"` // from the first submission to the last end
	Slowness float64        `json:"slowness"` // of the host: 1 is usual, and walltimes are so many times longer
	Sites    []demoSiteView `json:"sites"`
	Checks   demoChecksView `json:"checks"`
	Decision *decisionView  `json:"decision,omitempty"` // the closest
}

// demoSiteView is what a site did. The error of an estimate is how much later
// than estimated the job ended.
type demoSiteView struct {
	Name         string              `json:"name"`
	Policy       string              `json:"policy"`
	Speed        float64             `json:"speed"`
	Processors   int                 `json:"processors"`
	Jobs         int                 `json:"jobs"`
	WaitMean     float64             `json:"wait_mean"`
	ResponseMean float64             `json:"response_mean"`
	EstimateKind client.EstimateKind `json:"estimate_kind,omitempty"`
	ErrorBias    float64             `json:"error_bias"` // mean error
	ErrorP50     float64             `json:"error_p50"`  // of absolute errors
	ErrorP90     float64             `json:"error_p90"`
	Late         int                 `json:"late"` // jobs that ended after the estimate
}

// demoChecksView is what was found in the files that the jobs wrote.
type demoChecksView struct {
	Solutions   int      `json:"solutions"`    // of linear systems, that were checked
	ResidualMax float64  `json:"residual_max"` // relative, of the worst
	Pictures    int      `json:"pictures"`     // that decode, in the size that was asked for
	Saved       []string `json:"saved,omitempty"`
	Problems    []string `json:"problems,omitempty"`
}

// summarize counts a stream whose jobs have all ended.
func summarize(b *demoBoard, seed uint64) demoView {
	v := demoView{Schema: "drover.demo/1", Seed: seed, Jobs: len(b.stream), Sites: []demoSiteView{}}
	bySite := make(map[string][]*client.Job)
	var first, last float64
	for _, j := range b.jobs {
		if j == nil {
			continue
		}
		if j.State == client.Done {
			v.Done++
		}
		submitted, ended := j.Submitted.Sub(b.start).Seconds(), j.Ended.Sub(b.start).Seconds()
		if len(bySite) == 0 {
			first, last = submitted, ended
		}
		first, last = min(first, submitted), max(last, ended)
		bySite[j.Site] = append(bySite[j.Site], j)
	}
	v.Makespan = last - first
	for i := range b.sites {
		s := &b.sites[i]
		v.Sites = append(v.Sites, siteSummary(s, bySite[s.Name]))
	}
	return v
}

func siteSummary(s *client.Site, jobs []*client.Job) demoSiteView {
	v := demoSiteView{Name: s.Name, Policy: s.Policy, Speed: s.Speed, Processors: s.Processors, Jobs: len(jobs)}
	if len(jobs) == 0 {
		return v
	}
	v.EstimateKind = jobs[0].EstimateKind
	var waits, responses, errors, sizes []float64
	for _, j := range jobs {
		started := j.Started
		if started.IsZero() { // it never did
			started = j.Ended
		}
		waits = append(waits, started.Sub(j.Submitted).Seconds())
		responses = append(responses, j.Ended.Sub(j.Submitted).Seconds())
		late := lateness(j)
		errors, sizes = append(errors, late), append(sizes, math.Abs(late))
		if late > 0 {
			v.Late++
		}
	}
	slices.Sort(sizes)
	v.WaitMean, v.ResponseMean, v.ErrorBias = stat.Mean(waits, nil), stat.Mean(responses, nil), stat.Mean(errors, nil)
	v.ErrorP50, v.ErrorP90 = stat.Quantile(0.5, stat.Empirical, sizes, nil), stat.Quantile(0.9, stat.Empirical, sizes, nil)
	return v
}

// print writes the summary for people.
func (v *demoView) print(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "%d of %d jobs done in %.1fs (seed %d)\n\n", v.Done, v.Jobs, v.Makespan, v.Seed)
	t := newTable(w, table.Row{"site", "policy", "speed", "processors", "jobs", "wait", "response", "estimate", "bias", "p50", "p90", "late"},
		"speed", "processors", "jobs", "wait", "response", "bias", "p50", "p90", "late")
	for _, s := range v.Sites {
		seconds := func(format string, x float64) string {
			if s.Jobs == 0 {
				return "-"
			}
			return fmt.Sprintf(format+"s", x)
		}
		t.AppendRow(table.Row{
			s.Name, s.Policy, s.Speed, s.Processors, s.Jobs, seconds("%.1f", s.WaitMean), seconds("%.1f", s.ResponseMean), s.EstimateKind,
			seconds("%+.1f", s.ErrorBias), seconds("%.1f", s.ErrorP50), seconds("%.1f", s.ErrorP90), s.Late,
		})
	}
	t.Render()
	_, _ = fmt.Fprint(w, "(wait and response: means; bias, p50, p90: how far from its estimate a job ended, - is sooner, because\n"+
		" estimates are by walltimes; late: jobs that ended after it, which a promise rules out)\n\n")
	if v.Slowness > 1 {
		_, _ = fmt.Fprintf(w, "this host is %.1f times slower than usual, or busy: walltimes, and so estimates, are longer\n\n", v.Slowness)
	}
	_, err := fmt.Fprintf(w, "checked: %d solutions, worst residual %.1e; %d pictures\n", v.Checks.Solutions, v.Checks.ResidualMax, v.Checks.Pictures)
	for _, name := range v.Checks.Saved {
		_, _ = fmt.Fprintf(w, "saved: %s\n", name)
	}
	for _, p := range v.Checks.Problems {
		_, _ = fmt.Fprintf(w, "WRONG: %s\n", p)
	}
	return err
}
