package papers

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Limits of a file of rows.
const (
	MaxRows  = 1_000_000
	maxBytes = 1 << 29
)

// ParseError is what is wrong with a file of rows.
type ParseError struct {
	File     string
	Line     int // 0: the file as a whole
	Column   string
	Value    string
	Accepted string
}

// Error reads like "results.csv, line 3: seed: "x", accepted: a whole number".
func (e *ParseError) Error() string {
	at := e.File
	if e.Line > 0 {
		at += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column != "" {
		at += ": " + e.Column
	}
	return fmt.Sprintf("%s: %q, accepted: %s", at, e.Value, e.Accepted)
}

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
	limited := &io.LimitedReader{R: from, N: maxBytes}
	in := csv.NewReader(limited)
	in.Comment = '#'
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return &ParseError{File: file, Accepted: "a head line with the names of the columns"}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p := &parser{file: file}
	if err := p.head(slices.Clone(head)); err != nil {
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
		p.record = record
		p.line, _ = in.FieldPos(0)
		row := p.row()
		switch {
		case p.err != nil:
			return p.err
		case row != nil:
			if err := r.add(row, p); err != nil {
				return err
			}
		}
	}
	if limited.N <= 0 {
		return &ParseError{File: file, Value: "more", Accepted: fmt.Sprintf("at most %d bytes", maxBytes-1)}
	}
	return nil
}

func (r *Rows) add(row *Row, p *parser) error {
	if before, ok := r.index[row.Key]; ok {
		if *before != *row {
			return &ParseError{File: p.file, Line: p.line, Value: row.String(), Accepted: "an experiment that comes out as in the row before it"}
		}
		return nil
	}
	if len(r.rows) == MaxRows {
		return &ParseError{File: p.file, Line: p.line, Value: "more", Accepted: fmt.Sprintf("at most %d rows", MaxRows)}
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

// parser reads records; it keeps the first error.
type parser struct {
	file   string
	line   int
	at     map[string]int
	record []string
	err    error
}

func (p *parser) head(names []string) error {
	p.at = map[string]int{}
	for i, name := range names {
		p.at[name] = i
	}
	var lacking []string
	for _, c := range columns {
		if _, ok := p.at[c]; !ok {
			lacking = append(lacking, c)
		}
	}
	if lacking != nil {
		return &ParseError{File: p.file, Line: 1, Value: strings.Join(names, ","), Accepted: "a head line with " + strings.Join(lacking, ", ") + ", too"}
	}
	return nil
}

// row returns a row, or nil for a reference.
func (p *parser) row() *Row {
	if p.text("algorithm") == reference {
		return nil
	}
	r := &Row{
		Key: Key{
			Scenario: p.text("scenario"), Homogeneous: p.truth("homogeneous"), Dedicated: p.truth("dedicated"),
			Tuning: p.one("tuning", binary, exhaustive), Seed: p.seed("seed"),
			Way: Way{
				Algorithm: p.one("algorithm", regular, cancellation), Heuristic: p.text("heuristic"), Window: p.text("window"),
				Period: p.text("period_s"), Threshold: p.text("threshold_s"), Patience: p.text("patience"),
			}.meaning(),
		},
		GridJobs: p.count("grid_jobs"), Impacted: p.count("impacted"), Reallocations: p.count("reallocations"), Early: p.count("early"),
		Response: p.number("response_mean"), ResponseReference: p.number("response_reference"),
		Slowdown: p.number("bounded_slowdown_mean"), SlowdownReference: p.number("bounded_slowdown_reference"),
		Estimates: p.count("estimates"), PutBackLater: p.count("put_back_later_most"),
	}
	if r.Impacted > 0 { // else it is a mean over nothing
		r.Relative = optional{p.number("relative_response"), true}
	}
	if r.Impacted > r.GridJobs || r.Early > r.Impacted {
		p.bad("impacted", "between early and grid_jobs")
	}
	return r
}

func (p *parser) text(column string) string { return p.record[p.at[column]] }

func (p *parser) bad(column, accepted string) {
	if p.err == nil {
		p.err = &ParseError{File: p.file, Line: p.line, Column: column, Value: p.text(column), Accepted: accepted}
	}
}

func (p *parser) one(column string, accepted ...string) string {
	if !slices.Contains(accepted, p.text(column)) {
		p.bad(column, strings.Join(accepted, ", "))
	}
	return p.text(column)
}

func (p *parser) truth(column string) bool { return p.one(column, "true", "false") == "true" }

func (p *parser) seed(column string) uint64 {
	v, err := strconv.ParseUint(p.text(column), 10, 64)
	if err != nil {
		p.bad(column, "a whole number from 0 on")
	}
	return v
}

func (p *parser) count(column string) int {
	v, err := strconv.ParseInt(p.text(column), 10, 64)
	if err != nil || v < 0 {
		p.bad(column, "a whole number from 0 on")
	}
	return int(v)
}

func (p *parser) number(column string) float64 {
	v, err := strconv.ParseFloat(p.text(column), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		p.bad(column, "a number from 0 on")
	}
	return v
}
