package reallocation

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

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
		return &papers.ParseError{File: file, Value: "more", Accepted: fmt.Sprintf("at most %d bytes", papers.MaxBytes-1)}
	}
	return nil
}

func (r *Rows) add(row *Row, p *papers.Record) error {
	if before, ok := r.index[row.Key]; ok {
		if *before != *row {
			return &papers.ParseError{File: p.File, Line: p.Line, Value: row.String(), Accepted: "an experiment that comes out as in the row before it"}
		}
		return nil
	}
	if len(r.rows) == MaxRows {
		return &papers.ParseError{File: p.File, Line: p.Line, Value: "more", Accepted: fmt.Sprintf("at most %d rows", MaxRows)}
	}
	r.index[row.Key] = row
	r.rows = append(r.rows, row)
	return nil
}

// columns are those that are read.
var columns = []string{
	"scenario", "homogeneous", "dedicated", "tuning", "seed", "algorithm", "heuristic", "window", "period_s", "threshold_s", "patience",
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
				Algorithm: p.OneOf("algorithm", regular, cancellation), Heuristic: p.Text("heuristic"), Window: p.Text("window"),
				Period: p.Text("period_s"), Threshold: p.Text("threshold_s"), Patience: p.Text("patience"),
			}.meaning(),
		},
		GridJobs: p.Count("grid_jobs"), Impacted: p.Count("impacted"), Reallocations: p.Count("reallocations"), Early: p.Count("early"),
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
