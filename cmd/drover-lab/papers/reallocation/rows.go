package reallocation

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// The names that rows have for algorithms, heuristics, tunings and settings.
const (
	regular      = "regular"
	cancellation = "all-cancellation"
	reference    = "none" // the algorithm of a run without reallocation
	mct          = "mct"
	minmin       = "minmin"
	binary       = "binary"
	exhaustive   = "exhaustive"
)

// Way is a way to reallocate, with the names that rows use.
type Way struct {
	Algorithm, Heuristic, Window, Period, Threshold, Patience string
}

// anything stands for a setting that makes no difference.
const anything = "-"

// meaning returns the way without what makes no difference: mct compares no jobs,
// so it has no window; only regular looks at the threshold, and only
// all-cancellation at the patience.
func (w Way) meaning() Way {
	if w.Heuristic == mct {
		w.Window = anything
	}
	if w.Algorithm == regular {
		w.Patience = anything
	} else {
		w.Threshold = anything
	}
	return w
}

// Key names an experiment.
type Key struct {
	Scenario               string
	Homogeneous, Dedicated bool
	Tuning                 string // binary, exhaustive
	Seed                   uint64
	Way                    Way
}

// String reads like "pwa, dedicated, binary tuning, seed 3, MinMin-can".
func (k Key) String() string {
	text := k.Scenario
	if k.Homogeneous {
		text += ", homogeneous"
	}
	return fmt.Sprintf("%s, %s, %s tuning, seed %d, %s", text, platform(k.Dedicated), k.Tuning, k.Seed, coupleOf(k.Way))
}

func platform(dedicated bool) string {
	if dedicated {
		return "dedicated"
	}
	return "non-dedicated"
}

// Row is one experiment and what came of it, compared with the run of the same
// jobs without reallocation. Times are in seconds. Of jobs, only the grid's count.
type Row struct {
	Key
	GridJobs      int
	Impacted      int      // jobs whose completion has changed
	Reallocations int      // moves
	Early         int      // impacted jobs that were completed earlier
	Relative      optional // mean response of the impacted jobs, with over without

	Response, ResponseReference float64 // means over all jobs of the grid
	Slowdown, SlowdownReference float64 // bounded slowdown, means over all jobs of the grid
	Estimates                   int     // that sites were asked for
	PutBackLater                int     // the most rounds in which one job got a later place
}

// optional is a figure that may be undefined: a mean over no jobs.
type optional struct {
	value   float64
	defined bool
}

func over(a, b float64) optional {
	if b <= 0 {
		return optional{}
	}
	return optional{a / b, true}
}

// MaxRows is how many rows a file can have.
const MaxRows = 1_000_000

// Rows are the experiments of one or more campaigns.
type Rows struct {
	rows  []*Row
	index map[Key]*Row
}

// Len returns how many experiments there are; references are none.
func (r *Rows) Len() int { return len(r.rows) }

// Read adds the rows of a campaign's results.csv, by the names of its columns;
// columns that it does not know are passed over. An experiment that is there
// already must have come out the same.
func (r *Rows) Read(from io.Reader, file string) error {
	if r.index == nil {
		r.index = map[Key]*Row{}
	}
	limited := &io.LimitedReader{R: from, N: papers.MaxBytes}
	in := csv.NewReader(limited)
	in.Comment = '#'
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return &papers.ParseError{File: file, Accepted: "a head line with the names of the columns"}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p := &papers.Record{File: file}
	if err := p.Head(slices.Clone(head), columns...); err != nil {
		return err
	}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		p.Fields = record
		p.Line, _ = in.FieldPos(0)
		row := rowOf(p)
		switch {
		case p.Err != nil:
			return p.Err
		case row != nil:
			if err := r.add(row, p); err != nil {
				return err
			}
		}
	}
	if limited.N <= 0 {
		return &papers.ParseError{File: file, Value: "more", Accepted: fmt.Sprintf("at most %d bytes",
			papers.MaxBytes-1)}
	}
	return nil
}

func (r *Rows) add(row *Row, p *papers.Record) error {
	if before, ok := r.index[row.Key]; ok {
		if *before != *row {
			return &papers.ParseError{
				File: p.File, Line: p.Line, Value: row.String(),
				Accepted: "an experiment that comes out as in the row before it",
			}
		}
		return nil
	}
	if len(r.rows) == MaxRows {
		return &papers.ParseError{
			File: p.File, Line: p.Line, Value: "more",
			Accepted: fmt.Sprintf("at most %d rows", MaxRows),
		}
	}
	r.index[row.Key] = row
	r.rows = append(r.rows, row)
	return nil
}

// columns are those that are read.
var columns = []string{
	"scenario", "homogeneous", "dedicated", "tuning", "seed", "algorithm", "heuristic", "window", "period_s",
	"threshold_s", "patience",
	"grid_jobs", "impacted", "reallocations", "early", "relative_response", "response_mean", "response_reference",
	"bounded_slowdown_mean", "bounded_slowdown_reference", "estimates", "put_back_later_most",
}

// rowOf returns a row, or nil for a reference.
func rowOf(p *papers.Record) *Row {
	if p.Text("algorithm") == reference {
		return nil
	}
	r := &Row{
		Key: Key{
			Scenario: p.Text("scenario"), Homogeneous: p.Truth("homogeneous"), Dedicated: p.Truth("dedicated"),
			Tuning: p.OneOf("tuning", binary, exhaustive), Seed: p.Whole("seed"),
			Way: Way{
				Algorithm: p.OneOf("algorithm", regular, cancellation), Heuristic: p.Text("heuristic"),
				Window: p.Text("window"),
				Period: p.Text("period_s"), Threshold: p.Text("threshold_s"), Patience: p.Text("patience"),
			}.meaning(),
		},
		GridJobs: p.Count("grid_jobs"), Impacted: p.Count("impacted"), Reallocations: p.Count("reallocations"),
		Early:    p.Count("early"),
		Response: p.Number("response_mean"), ResponseReference: p.Number("response_reference"),
		Slowdown: p.Number("bounded_slowdown_mean"), SlowdownReference: p.Number("bounded_slowdown_reference"),
		Estimates: p.Count("estimates"), PutBackLater: p.Count("put_back_later_most"),
	}
	if r.Impacted > 0 { // else it is a mean over nothing
		r.Relative = optional{p.Number("relative_response"), true}
	}
	if r.Impacted > r.GridJobs || r.Early > r.Impacted {
		p.Bad("impacted", "between early and grid_jobs")
	}
	return r
}

// Plan says which experiments the figures are made of: each couple, dedicated and
// not, on each scenario with each seed.
type Plan struct {
	Scenarios []string
	Seeds     []uint64
	Tuning    string
}

// Paper is the plan of the paper: 7 scenarios and 10 seeds, 560 experiments.
var Paper = Plan{
	Scenarios: []string{"pwa", "m1", "m2", "m3", "m4", "m5", "m6"},
	Seeds:     []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	Tuning:    binary,
}

// couple is an algorithm with a heuristic, by the paper's name for it.
type couple struct{ name, algorithm, heuristic string }

var (
	mctReg    = couple{"MCT-reg", regular, mct}
	minminReg = couple{"MinMin-reg", regular, minmin}
	mctCan    = couple{"MCT-can", cancellation, mct}
	minminCan = couple{"MinMin-can", cancellation, minmin}

	couples = []couple{mctReg, minminReg, mctCan, minminCan}
	regs    = []couple{mctReg, minminReg}
	cans    = []couple{mctCan, minminCan}
)

// The paper's settings.
const (
	paperWindow    = "20"
	paperPeriod    = "3600"
	paperThreshold = "60"
	unguarded      = "off"
)

// way returns the couple under the paper's settings.
func (c couple) way() Way {
	return Way{c.algorithm, c.heuristic, paperWindow, paperPeriod, paperThreshold, unguarded}.meaning()
}

// coupleOf names a way: the paper's name where it has one.
func coupleOf(w Way) string {
	for _, c := range couples {
		if c.way() == w {
			return c.name
		}
	}
	return fmt.Sprintf("%s %s (window %s, period %s s, threshold %s s, patience %s)", w.Algorithm, w.Heuristic,
		w.Window,
		w.Period, w.Threshold, w.Patience)
}

// Experiments returns how many there are.
func (p Plan) Experiments() int { return len(p.experiments()) }

// experiments returns the keys of the plan: by platform, scenario, couple, seed.
func (p Plan) experiments() []Key {
	var all []Key
	for _, dedicated := range []bool{true, false} {
		for _, s := range p.Scenarios {
			for _, c := range couples {
				for _, seed := range p.Seeds {
					all = append(all, Key{
						Scenario: s, Dedicated: dedicated, Tuning: p.Tuning, Seed: seed, Way: c.way(),
					})
				}
			}
		}
	}
	return all
}

// Lacking returns the experiments of a plan that have no row.
func (r *Rows) Lacking(p Plan) []Key {
	var lacking []Key
	for _, k := range p.experiments() {
		if r.index[k] == nil {
			lacking = append(lacking, k)
		}
	}
	return lacking
}

// LackingError says that the rows are not all that the figures are made of.
type LackingError struct {
	Lacking []Key
	Of      int
}

// namedLacking is how many experiments an error names.
const namedLacking = 10

// Error names the first of them.
func (e *LackingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d experiments lack", len(e.Lacking), e.Of)
	for i, k := range e.Lacking {
		if i == namedLacking {
			fmt.Fprintf(&b, "; and %d more", len(e.Lacking)-i)
			break
		}
		b.WriteString("; " + k.String())
	}
	return b.String()
}
