package fractional

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Schema names the columns of a table of rows.
const Schema = "drover.sim.dfrs/1"

// Columns are those of a table of rows. Times are in seconds, work and demand in
// seconds of a node. What stands behind demand follows from what stands before it.
var Columns = []string{
	"schema", "set", "trace", "load", "algorithm", "period", "penalty",
	"jobs", "bound", "max_stretch", "mean_stretch",
	"preemptions", "migrations", "preempted_bytes", "migrated_bytes",
	"span", "work", "demand",
	"degradation", "underutilization",
}

// ParseError is a row that cannot be read.
type ParseError struct {
	Line          int
	Column, Value string
	Accepted      string
}

// Error names line and column.
func (e *ParseError) Error() string {
	return fmt.Sprintf("line %d: %s: %q, accepted: %s", e.Line, e.Column, e.Value, e.Accepted)
}

// WriteCSV writes rows as a table.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(Columns); err != nil {
		return err
	}
	for i := range rows {
		if err := out.Write(rows[i].record()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// ReadCSV reads a table that WriteCSV has written. The error may be a *ParseError.
func ReadCSV(r io.Reader) ([]Row, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(Columns)
	in.ReuseRecord = true
	var rows []Row
	for {
		record, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return nil, err
		}
		line, _ := in.FieldPos(0)
		if line == 1 {
			if !slices.Equal(record, Columns) {
				return nil, &ParseError{line, Columns[0], record[0], "the names of the columns of " + Schema}
			}
			continue
		}
		row, err := parseRow(record, line)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

func (r *Row) record() []string {
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	seconds := func(d batch.Duration) string { return number(d.Seconds()) }
	return []string{
		Schema, r.Set, whole(int64(r.Trace)), number(float64(r.Load) / 10), r.Algorithm, seconds(r.Period), seconds(r.Penalty),
		whole(int64(r.Jobs)), number(r.Bound), number(r.MaxStretch), number(r.MeanStretch),
		whole(int64(r.Preemptions)), whole(int64(r.Migrations)), whole(r.PreemptedBytes), whole(r.MigratedBytes),
		seconds(r.Span), number(r.Work), number(r.Demand),
		number(r.Degradation()), number(r.Underutilization()),
	}
}

// fields reads a record one column after another and keeps the first error.
type fields struct {
	record []string
	line   int
	next   int
	err    error
}

func (f *fields) text() string {
	f.next++
	return f.record[f.next-1]
}

func (f *fields) whole() int64 {
	v, err := strconv.ParseInt(f.text(), 10, 64)
	f.check(err == nil && v >= 0, "0, 1, 2, ...")
	return v
}

func (f *fields) count() int {
	v := f.whole()
	f.check(v <= math.MaxInt32, "at most "+strconv.Itoa(math.MaxInt32))
	return int(v)
}

func (f *fields) number() float64 {
	v, err := strconv.ParseFloat(f.text(), 64)
	f.check(err == nil && v >= 0 && v <= math.MaxFloat64, "0 or more")
	return v
}

// most is the longest time that is read: microseconds beyond it are not exact.
const most = 1e9

func (f *fields) duration() batch.Duration {
	v := f.number()
	f.check(v <= most, "0..1000000000")
	return batch.Duration(math.Round(v * float64(batch.Second)))
}

func (f *fields) check(ok bool, accepted string) {
	if !ok && f.err == nil {
		f.err = &ParseError{f.line, Columns[f.next-1], f.record[f.next-1], accepted}
	}
}

func parseRow(record []string, line int) (Row, error) {
	f := &fields{record: record, line: line}
	f.schema()
	r := Row{Case: Case{Set: f.text(), Trace: f.count()}}
	load := f.number()
	f.check(load <= 10, "0..10")
	r.Load = int(math.Round(10 * load))
	r.Algorithm = f.text()
	r.Period, r.Penalty = f.duration(), f.duration()
	r.Jobs, r.Bound, r.MaxStretch, r.MeanStretch = f.count(), f.number(), f.number(), f.number()
	r.Preemptions, r.Migrations, r.PreemptedBytes, r.MigratedBytes = f.count(), f.count(), f.whole(), f.whole()
	r.Span, r.Work, r.Demand = f.duration(), f.number(), f.number()
	return r, f.err
}

func (f *fields) schema() {
	v := f.text()
	f.check(v == Schema, Schema)
}
