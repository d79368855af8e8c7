package farm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Schema names what a line of rows or of costs is.
const Schema = "drover.sim.convergent/1"

// ParseError is a line that cannot be read.
type ParseError struct {
	Line int
	Why  string
}

// Error says which line, and why.
func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// rowLine and costLine are lines as they are written.
type rowLine struct {
	Schema string `json:"schema"`
	Row
}

type costLine struct {
	Schema string `json:"schema"`
	Cost
}

// lineOf returns a value as one line.
func lineOf(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing a line: %w", err)
	}
	return append(b, '\n'), nil
}

// WriteRows writes rows, each as one line of JSON.
func WriteRows(w io.Writer, rows []Row) error {
	for i := range rows {
		line, err := lineOf(rowLine{Schema, rows[i]})
		if err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// ReadRows reads what WriteRows has written. The error may be a *ParseError.
func ReadRows(text []byte) ([]Row, error) {
	lines, err := readLines(text, func(l *rowLine) (string, string) { return l.Schema, l.wrong() })
	rows := make([]Row, 0, len(lines))
	for i := range lines {
		rows = append(rows, lines[i].Row)
	}
	return rows, err
}

// readCosts reads lines of costs.
func readCosts(text []byte) ([]Cost, error) {
	lines, err := readLines(text, func(l *costLine) (string, string) { return l.Schema, l.wrong() })
	costs := make([]Cost, 0, len(lines))
	for i := range lines {
		costs = append(costs, lines[i].Cost)
	}
	return costs, err
}

// readLines reads one value of each line; look returns its schema, and what is wrong
// with it.
func readLines[T any](text []byte, look func(*T) (schema, wrong string)) ([]T, error) {
	var all []T
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		var v T
		in := json.NewDecoder(bytes.NewReader(line))
		in.DisallowUnknownFields()
		if err := in.Decode(&v); err != nil {
			return nil, &ParseError{n, err.Error()}
		}
		if _, err := in.Token(); !errors.Is(err, io.EOF) {
			return nil, &ParseError{n, "more than one value, accepted: one"}
		}
		schema, wrong := look(&v)
		if schema != Schema {
			return nil, &ParseError{n, fmt.Sprintf("schema: %q, accepted: %s", schema, Schema)}
		}
		if wrong != "" {
			return nil, &ParseError{n, wrong}
		}
		all = append(all, v)
	}
	return all, nil
}

// wrong says what is wrong with a case; "" if nothing is.
func (c *Case) wrong() string {
	switch {
	case !slices.Contains(Sets, c.Set):
		return (&NameError{"set", c.Set, Sets}).Error()
	case !c.Reading.known():
		return (&NameError{"reading", string(c.Reading), names(Readings)}).Error()
	case least(c.Seed, c.Arrival, c.Machines, c.Licenses, c.Jobs) < 0 || c.Rate < 0 || c.Ratio.Low < 0 || c.Ratio.High < c.Ratio.Low:
		return "a number of the case is negative, or a range has no element"
	}
	return ""
}

func (r *Row) wrong() string {
	numbers := []float64{r.Slowdown, r.WorstSlowdown, r.Wait, r.Lateness, r.MachineUsage, r.LicenseUsage, r.Span}
	counts := append([]int{r.Ended, r.Killed, r.Dated, r.Late, r.Hopeless, r.Preemptions, r.Migrations, r.Plans}, r.Workload...)
	if k := r.Knapsacks; k != nil {
		counts = append(counts, k.Calls, k.Proven)
		numbers = append(numbers, k.Greedy.Smallest, k.Greedy.Mean, k.Greedy.Best, k.Exact.Smallest, k.Exact.Mean, k.Exact.Best, k.Value, k.Worst, k.Bound)
	}
	if slices.Min(numbers) < 0 || slices.Max(numbers) > math.MaxFloat64 || slices.Min(counts) < 0 {
		return "a figure is negative"
	}
	return r.Case.wrong()
}

func (c *Cost) wrong() string {
	if min(c.Seconds, c.First, c.Median, c.Longest, c.Greedy, c.Exact) < 0 || c.Plans < 0 {
		return "a cost is negative"
	}
	return c.Case.wrong()
}

func least(all ...int) int { return slices.Min(all) }
