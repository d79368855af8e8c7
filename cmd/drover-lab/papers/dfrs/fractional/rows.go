package fractional

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The sets of instances.
const (
	// HPC2N are the 182 weeks of the log. Each starts with an empty machine.
	HPC2N = "hpc2n"
	// Unscaled are 100 workloads of 1,000 jobs each by the model.
	Unscaled = "unscaled"
	// Scaled are the same at loads of 0.1 to 0.9.
	Scaled = "scaled"
	// Whole is HPC2N's log in one piece. It has no bound.
	Whole = "hpc2n-whole"
)

// Sets are the names of the sets.
var Sets = []string{HPC2N, Unscaled, Scaled, Whole}

// The algorithms that the policy does not implement.
const (
	FCFS = "FCFS"
	EASY = "EASY"
)

// Case is one run: an instance, an algorithm, a period and a penalty.
type Case struct {
	Set   string
	Trace int // the week, from 0, or the seed, from 1
	Load  int // tenths, of Scaled; else 0
	// Algorithm is FCFS, EASY or a name as package dfrs prints it. Settings of the
	// policy beyond the paper stand behind it: "NAME decay=1h match=true".
	Algorithm string
	Period    batch.Duration // 0 for an algorithm that does nothing periodically
	Penalty   batch.Duration
}

// Compare orders cases: by set, in the order of Sets by name, load and trace, then by
// algorithm, period and penalty.
func (c *Case) Compare(o *Case) int {
	return cmp.Or(
		cmp.Compare(c.Set, o.Set), cmp.Compare(c.Load, o.Load), cmp.Compare(c.Trace, o.Trace),
		cmp.Compare(c.Algorithm, o.Algorithm), cmp.Compare(c.Period, o.Period), cmp.Compare(c.Penalty, o.Penalty),
	)
}

// Row is a case and its results.
type Row struct {
	Case
	Jobs        int
	Bound       float64 // of the maximum stretch; 0 if it was not asked for
	MaxStretch  float64
	MeanStretch float64

	Preemptions    int   // of jobs
	Migrations     int   // of jobs
	PreemptedBytes int64 // out and in
	MigratedBytes  int64 // out and in

	Span   batch.Duration // from the first submission to the last end
	Work   float64        // of all jobs, in seconds of a node
	Demand float64        // the integral of min(nodes, demand), in seconds of a node
}

// Degradation returns the largest stretch over the bound; 0 without one.
func (r *Row) Degradation() float64 {
	if r.Bound == 0 {
		return 0
	}
	return r.MaxStretch / r.Bound
}

// Underutilization returns the capacity that was unused in spite of demand, as a
// fraction of the work; 0 without work.
func (r *Row) Underutilization() float64 {
	if r.Work == 0 {
		return 0
	}
	return (r.Demand - r.Work) / r.Work
}

// PerHour returns the preemptions and migrations per hour.
func (r *Row) PerHour() (preemptions, migrations float64) {
	return r.per(3600*float64(r.Preemptions), r.Span.Seconds()), r.per(3600*float64(r.Migrations), r.Span.Seconds())
}

// PerJob returns the preemptions and migrations per job.
func (r *Row) PerJob() (preemptions, migrations float64) {
	return r.per(float64(r.Preemptions), float64(r.Jobs)), r.per(float64(r.Migrations), float64(r.Jobs))
}

// Bandwidth returns the traffic of preemptions and migrations, in GB (10^9 bytes) per second.
func (r *Row) Bandwidth() (preemptions, migrations float64) {
	return r.per(float64(r.PreemptedBytes)/1e9, r.Span.Seconds()), r.per(float64(r.MigratedBytes)/1e9, r.Span.Seconds())
}

func (r *Row) per(n, of float64) float64 {
	if of == 0 {
		return 0
	}
	return n / of
}

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

// ParseError reports a row that cannot be parsed.
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

// ReadCSV reads a table written by WriteCSV. The error can be a *ParseError.
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
		Schema, r.Set, whole(int64(r.Trace)), number(float64(r.Load) / 10), r.Algorithm, seconds(r.Period),
		seconds(r.Penalty),
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

// most is the longest accepted time. Longer times are not exact to the microsecond.
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
