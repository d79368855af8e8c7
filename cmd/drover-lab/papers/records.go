package papers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxBytes is the size of the largest file of rows that is read.
const MaxBytes = 1 << 29

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

// Record is a record of a CSV file with a head line. It keeps the first error.
type Record struct {
	File    string
	Line    int
	Columns map[string]int // the index of each column
	Fields  []string
	Err     error // a *ParseError; nil if all values could be read
}

// Head takes the head line, which must name some columns.
func (p *Record) Head(names []string, columns ...string) error {
	p.Columns = map[string]int{}
	for i, name := range names {
		p.Columns[name] = i
	}
	var lacking []string
	for _, c := range columns {
		if _, ok := p.Columns[c]; !ok {
			lacking = append(lacking, c)
		}
	}
	if lacking != nil {
		return &ParseError{File: p.File, Line: 1, Value: strings.Join(names, ","), Accepted: "a head line with " +
			strings.Join(lacking, ", ") + ", too"}
	}
	return nil
}

// Text returns a value as it is.
func (p *Record) Text(column string) string { return p.Fields[p.Columns[column]] }

// Bad notes that the value of a column is wrong.
func (p *Record) Bad(column, accepted string) {
	if p.Err == nil {
		p.Err = &ParseError{File: p.File, Line: p.Line, Column: column, Value: p.Text(column), Accepted: accepted}
	}
}

// OneOf returns a value that must be one of some.
func (p *Record) OneOf(column string, accepted ...string) string {
	if !slices.Contains(accepted, p.Text(column)) {
		p.Bad(column, strings.Join(accepted, ", "))
	}
	return p.Text(column)
}

// Truth returns true or false.
func (p *Record) Truth(column string) bool { return p.OneOf(column, "true", "false") == "true" }

// Whole returns a whole number from 0 on.
func (p *Record) Whole(column string) uint64 {
	v, err := strconv.ParseUint(p.Text(column), 10, 64)
	if err != nil {
		p.Bad(column, "a whole number from 0 on")
	}
	return v
}

// Count returns a number of things, from 0 on.
func (p *Record) Count(column string) int {
	v, err := strconv.ParseInt(p.Text(column), 10, 64)
	if err != nil || v < 0 {
		p.Bad(column, "a whole number from 0 on")
	}
	return int(v)
}

// Number returns a finite number from 0 on.
func (p *Record) Number(column string) float64 {
	v, err := strconv.ParseFloat(p.Text(column), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		p.Bad(column, "a number from 0 on")
	}
	return v
}

// Positive returns a finite number above 0.
func (p *Record) Positive(column string) float64 {
	v, err := strconv.ParseFloat(p.Text(column), 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		p.Bad(column, "a number above 0")
	}
	return v
}
