package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/bench"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type versusView struct {
	Schema      string               `json:"schema"`
	Rule        string               `json:"rule"`
	Processors  []int                `json:"processors"`
	Node        int                  `json:"node"`
	Minutes     float64              `json:"minutes"`
	Load        float64              `json:"load"`
	Local       float64              `json:"local"`
	Period      float64              `json:"period"` // seconds
	Threshold   float64              `json:"threshold"`
	MostMoves   int                  `json:"most_moves"`
	Algorithm   string               `json:"algorithm"`
	Heuristic   string               `json:"heuristic"`
	Model       string               `json:"model"`
	InTurn      bool                 `json:"in_turn"`
	Repetitions []versusTurnView     `json:"repetitions"`
	Pooled      versusPairView       `json:"pooled"` // all repetitions' jobs together
	Ratios      versusRatioView      `json:"ratios"` // Drover over Slurm, over the repetitions
	Estimates   []versusEstimateView `json:"estimates"`

	processors int
}

type versusTurnView struct {
	Seed  uint64 `json:"seed"`
	Jobs  int    `json:"jobs"`
	Local int    `json:"local_jobs"`
	versusPairView
}

// versusPairView is both sides of one workload.
type versusPairView struct {
	Drover versusSideView `json:"drover"`
	Slurm  versusSideView `json:"slurm"`
	Ratio  struct {
		ResponseMean float64 `json:"response_mean"`
		ResponseP95  float64 `json:"response_p95"`
		SlowdownMean float64 `json:"slowdown_mean"`
		SlowdownP95  float64 `json:"slowdown_p95"`
	} `json:"ratio"`
}

// versusSideView is what the grid's jobs had, and what all had of the clusters.
type versusSideView struct {
	ResponseMean float64         `json:"response_mean"` // seconds
	ResponseP95  float64         `json:"response_p95"`
	SlowdownMean float64         `json:"slowdown_mean"`
	SlowdownP95  float64         `json:"slowdown_p95"`
	WaitMean     float64         `json:"wait_mean"`
	Utilization  float64         `json:"utilization,omitempty"` // within the makespan; not of repetitions together
	Makespan     float64         `json:"makespan,omitempty"`
	Moves        int             `json:"moves"`
	Moved        int             `json:"moved"` // jobs
	Local        versusLocalView `json:"local"`
}

// versusLocalView is what local users' jobs had.
type versusLocalView struct {
	ResponseMean float64 `json:"response_mean"`
	SlowdownMean float64 `json:"slowdown_mean"`
}

type versusRatioView struct {
	ResponseMean spreadView `json:"response_mean"`
	ResponseP95  spreadView `json:"response_p95"`
	SlowdownMean spreadView `json:"slowdown_mean"`
	SlowdownP95  spreadView `json:"slowdown_p95"`
}

type spreadView struct {
	GeometricMean float64 `json:"geometric_mean"`
	Min           float64 `json:"min"`
	Max           float64 `json:"max"`
}

// versusEstimateView is how one kind of estimate was kept.
type versusEstimateView struct {
	By   string  `json:"by"`   // drover, test-only
	Of   string  `json:"of"`   // start, end
	Side string  `json:"side"` // on which it was made: drover, slurm
	Jobs int     `json:"jobs"`
	Bias float64 `json:"bias"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
}

func newVersusView(c *benchVersusCmd) *versusView {
	return &versusView{
		Schema: "drover.bench.versus-slurm/1", Rule: c.Rule, Processors: c.Processors, Node: c.Node, Minutes: c.Minutes,
		Load: c.Load, Local: c.Local,
		Period: c.Period.Seconds(), Threshold: c.Threshold.Seconds(), MostMoves: c.MostMoves, Algorithm: c.Algorithm,
		Heuristic: c.Heuristic, Model: c.Model, InTurn: c.InTurn,
		Repetitions: []versusTurnView{}, Estimates: []versusEstimateView{}, processors: c.processors(),
	}
}

// add puts in what came of a repetition.
func (v *versusView) add(w *bench.Workload, r *versusRuns) {
	t := versusTurnView{Seed: w.Seed, versusPairView: pairViewOf(r)}
	t.Jobs = bench.FiguresOf(r.drover, bench.OfGrid).Jobs
	t.Local = len(r.drover) - t.Jobs
	t.Drover.Utilization, t.Drover.Makespan = bench.Utilization(r.drover, v.processors),
		bench.Makespan(r.drover).Seconds()
	t.Slurm.Utilization, t.Slurm.Makespan = bench.Utilization(r.slurm, v.processors), bench.Makespan(r.slurm).Seconds()
	v.Repetitions = append(v.Repetitions, t)
}

// print prints the results of the repetitions, if there were any.
func (v *versusView) print(a *app, all *versusRuns) error {
	if len(v.Repetitions) == 0 {
		return nil
	}
	v.conclude(all)
	if a.flags.JSON {
		return cmdline.WriteJSON(a.Stdout, v)
	}
	printVersus(a.Stdout, v)
	return nil
}

// conclude sums up all repetitions.
func (v *versusView) conclude(all *versusRuns) {
	v.Pooled = pairViewOf(all)
	spread := func(of func(*versusPairView) float64) spreadView {
		var ratios []float64
		for i := range v.Repetitions {
			ratios = append(ratios, of(&v.Repetitions[i].versusPairView))
		}
		return spreadView(bench.SpreadOf(ratios))
	}
	v.Ratios = versusRatioView{
		ResponseMean: spread(func(p *versusPairView) float64 { return p.Ratio.ResponseMean }),
		ResponseP95:  spread(func(p *versusPairView) float64 { return p.Ratio.ResponseP95 }),
		SlowdownMean: spread(func(p *versusPairView) float64 { return p.Ratio.SlowdownMean }),
		SlowdownP95:  spread(func(p *versusPairView) float64 { return p.Ratio.SlowdownP95 }),
	}
	e := bench.EstimatesOf(all.drover)
	row := func(by, of, side string, e bench.Errors) {
		v.Estimates = append(v.Estimates, versusEstimateView{
			By: by, Of: of, Side: side, Jobs: e.Jobs, Bias: e.Bias,
			P50: e.P50, P90: e.P90,
		})
	}
	row("drover", "start", "drover", e.DroverStart)
	row("test-only", "start", "drover", e.TestStart)
	row("drover", "end", "drover", e.DroverEnd)
	row("test-only", "end", "drover", e.TestEnd)
	if e := bench.TestErrors(all.slurm); e.Jobs > 0 { // sbatch --clusters does not say
		row("test-only", "start", "slurm", e)
	}
}

func pairViewOf(r *versusRuns) versusPairView {
	var p versusPairView
	drover, slurm := bench.FiguresOf(r.drover, bench.OfGrid), bench.FiguresOf(r.slurm, bench.OfGrid)
	p.Drover, p.Slurm = sideViewOf(&drover, r.drover), sideViewOf(&slurm, r.slurm)
	q := bench.RatiosOf(&drover, &slurm)
	p.Ratio.ResponseMean, p.Ratio.ResponseP95, p.Ratio.SlowdownMean, p.Ratio.SlowdownP95 = q.ResponseMean,
		q.ResponseP95, q.SlowdownMean, q.SlowdownP95
	return p
}

func sideViewOf(f *bench.Figures, runs []bench.Run) versusSideView {
	local := bench.FiguresOf(runs, bench.OfLocals)
	return versusSideView{
		ResponseMean: f.Response.Mean, ResponseP95: f.Response.P95, SlowdownMean: f.Slowdown.Mean,
		SlowdownP95: f.Slowdown.P95,
		WaitMean:    f.WaitMean, Moves: f.Moves, Moved: f.MovedAtLeast,
		Local: versusLocalView{ResponseMean: local.Response.Mean, SlowdownMean: local.Slowdown.Mean},
	}
}

// printVersusTurn prints what came of a repetition as soon as it is over.
func printVersusTurn(w io.Writer, t *versusTurnView) {
	_, _ = fmt.Fprintf(w, "\nseed %d: %d jobs of the grid, %d of local users\n", t.Seed, t.Jobs, t.Local)
	printPair(w, &t.versusPairView)
}

func printPair(w io.Writer, p *versusPairView) {
	columns := []string{
		"response", "p95", "slowdown", "p95 ", "wait", "local response", "utilization", "makespan",
		"moves",
	}
	header := table.Row{""}
	for _, c := range columns {
		header = append(header, c)
	}
	t := cmdline.NewTable(w, header, columns...)
	seconds := func(s float64) string { return cmdline.Span(time.Duration(s * float64(time.Second))) }
	for _, side := range []struct {
		name string
		v    *versusSideView
	}{{"drover", &p.Drover}, {"slurm", &p.Slurm}} {
		s := side.v
		used, took := "-", "-"
		if s.Makespan > 0 {
			used, took = fmt.Sprintf("%.0f%%", s.Utilization*100), seconds(s.Makespan)
		}
		t.AppendRow(table.Row{
			side.name, seconds(s.ResponseMean), seconds(s.ResponseP95), fmt.Sprintf("%.2f", s.SlowdownMean),
			fmt.Sprintf("%.2f",
				s.SlowdownP95),
			seconds(s.WaitMean), seconds(s.Local.ResponseMean), used, took, s.Moves,
		})
	}
	t.AppendRow(table.Row{
		"ratio", fmt.Sprintf("%.2f", p.Ratio.ResponseMean), fmt.Sprintf("%.2f", p.Ratio.ResponseP95),
		fmt.Sprintf("%.2f", p.Ratio.SlowdownMean), fmt.Sprintf("%.2f", p.Ratio.SlowdownP95),
	})
	t.Render()
}

// printVersus prints what came of all repetitions.
func printVersus(w io.Writer, v *versusView) {
	_, _ = fmt.Fprintf(w, "\nrepetitions together: %d\n", len(v.Repetitions))
	printPair(w, &v.Pooled)
	_, _ = fmt.Fprintln(w, "\nDrover over Slurm: the geometric mean of the repetitions' ratios, and the least and the "+
		"largest")
	t := cmdline.NewTable(w, table.Row{"", "ratio", "min", "max"}, "ratio", "min", "max")
	for _, row := range []struct {
		name string
		s    spreadView
	}{
		{"mean response", v.Ratios.ResponseMean},
		{"p95 response", v.Ratios.ResponseP95},
		{"mean slowdown", v.Ratios.SlowdownMean},
		{"p95 slowdown", v.Ratios.SlowdownP95},
	} {
		t.AppendRow(table.Row{
			row.name, fmt.Sprintf("%.2f", row.s.GeometricMean), fmt.Sprintf("%.2f", row.s.Min),
			fmt.Sprintf("%.2f", row.s.Max),
		})
	}
	t.Render()
	_, _ = fmt.Fprintln(w, "\nestimates made at submission, of the grid's jobs that have not moved: what happened "+
		"minus "+
		"what was said")
	t = cmdline.NewTable(w, table.Row{"of", "by", "on the side of", "jobs", "bias", "p50", "p90"}, "jobs", "bias",
		"p50",
		"p90")
	for _, e := range v.Estimates {
		seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
		t.AppendRow(table.Row{
			e.Of, e.By, e.Side, e.Jobs, signed(seconds(e.Bias)), cmdline.Span(seconds(e.P50)),
			cmdline.Span(seconds(e.P90)),
		})
	}
	t.Render()
}

// write appends what became of every job to a CSV file.
func (r *versusRuns) write(path string, repetition int) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		_ = w.Write([]string{
			"repetition", "side", "job", "cluster", "width", "runtime", "walltime", "submitted", "begun", "ended",
			"moves", "test_start", "drover_start", "drover_end",
		}) // Flush says if it fails
	}
	first := r.first()
	for _, side := range []struct {
		name string
		runs []bench.Run
	}{{"drover", r.drover}, {"slurm", r.slurm}} {
		for i := range side.runs {
			_ = w.Write(recordOf(&side.runs[i], side.name, repetition, first))
		}
	}
	w.Flush()
	return w.Error()
}

// first is when the first job of each side was submitted, which is 0 in the file.
func (r *versusRuns) first() map[string]time.Time {
	return map[string]time.Time{"drover": r.drover[0].Submitted, "slurm": r.slurm[0].Submitted}
}

func recordOf(r *bench.Run, side string, repetition int, first map[string]time.Time) []string {
	number := func(s float64) string { return strconv.FormatFloat(s, 'f', 1, 64) }
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return number(t.Sub(first[side]).Seconds())
	}
	return []string{
		strconv.Itoa(repetition), side, r.Job.ID, strconv.Itoa(r.Cluster + 1), strconv.Itoa(r.Job.Width),
		number(r.Job.Runtime.Seconds()), number(r.Job.Walltime.Seconds()), at(r.Submitted), at(r.Begun), at(r.Ended),
		strconv.Itoa(r.Moves),
		at(r.Test), at(r.Forecast), at(r.Expected),
	}
}

// signed formats an error of an estimate: positive if it came later than estimated.
func signed(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + cmdline.Span(-d)
	case d > 0:
		return "+" + cmdline.Span(d)
	}
	return cmdline.Span(0)
}
