package farm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Case is one run: an instance and what schedules it.
type Case struct {
	Set string `json:"set"`
	// Algorithm is one of Algorithms. Settings of the policy may stand behind it:
	// "CS_ip deadlineK=2".
	Algorithm string  `json:"algorithm"`
	Seed      int     `json:"seed"`
	Arrival   int     `json:"arrival"` // mean units between submissions
	Machines  int     `json:"machines"`
	Licenses  int     `json:"licenses"`
	Jobs      int     `json:"jobs"`
	Ratio     Range   `json:"ratio"` // copies of a license, percent of its machines
	Reading   Reading `json:"reading"`
	// Rate is the bandwidth between any two machines, in MB in a unit; 0: moving input
	// takes no time.
	Rate int64 `json:"rate"`
}

// Model returns the model that a case's instance is drawn from.
func (c *Case) Model() Model {
	m := Paper(c.Arrival)
	m.Machines, m.Licenses, m.Jobs, m.Ratio, m.Reading = c.Machines, c.Licenses, c.Jobs, c.Ratio, c.Reading
	if c.Set == Growth {
		m.Backlog = max(0, c.Jobs-Later)
	}
	return m
}

// Compare orders cases: by set, then what is to be compared side by side, the algorithms,
// last but for the seed.
func (c *Case) Compare(o *Case) int {
	return cmp.Or(
		cmp.Compare(c.Set, o.Set), cmp.Compare(c.Reading, o.Reading), cmp.Compare(c.Rate, o.Rate),
		cmp.Compare(c.Ratio.Low, o.Ratio.Low), cmp.Compare(c.Ratio.High, o.Ratio.High),
		cmp.Compare(c.Machines, o.Machines), cmp.Compare(c.Licenses, o.Licenses), cmp.Compare(c.Jobs, o.Jobs),
		cmp.Compare(c.Arrival, o.Arrival), cmp.Compare(c.Algorithm, o.Algorithm), cmp.Compare(c.Seed, o.Seed),
	)
}

// Row is a case and what came of it. All of it is the same on every machine.
type Row struct {
	Case
	Ended    int `json:"ended"`    // jobs
	Killed   int `json:"killed"`   // of them, by the policy
	Dated    int `json:"dated"`    // jobs that ended and have a deadline
	Late     int `json:"late"`     // of them
	Hopeless int `json:"hopeless"` // of Dated
	// Slowdown is the mean of jobs without a deadline, WorstSlowdown the largest.
	Slowdown      float64 `json:"slowdown"`
	WorstSlowdown float64 `json:"worst_slowdown"`
	Wait          float64 `json:"wait"`      // mean Tw of all jobs, in units
	Lateness      float64 `json:"lateness"`  // mean of late jobs: units after the deadline
	MachineUsage  float64 `json:"machine"`   // 0..1
	LicenseUsage  float64 `json:"license"`   // 0..1
	Preemptions   int     `json:"preempted"` // times that a job had to leave its machine
	Migrations    int     `json:"migrated"`  // of them, to continue on another machine
	Plans         int     `json:"plans"`
	Span          float64 `json:"span"` // units from 0 to the last end
	// Workload is the number of jobs in the system at 0, SampleEvery, twice that, ...:
	// what there is just before that instant's events.
	Workload []int `json:"workload"`
	// Knapsacks is there in cases of Knapsacks alone.
	Knapsacks *Comparison `json:"knapsacks,omitempty"`
}

// SampleEvery is the time between two samples of the workload.
const SampleEvery = 250 * Unit

// LatePercent returns late jobs in percent of those with a deadline.
func (r *Row) LatePercent() float64 { return percent(r.Late, r.Dated) }

// HopelessPercent returns hopeless jobs in percent of those with a deadline: no
// algorithm has fewer late ones.
func (r *Row) HopelessPercent() float64 { return percent(r.Hopeless, r.Dated) }

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// Cost is what a run took of the machine it ran on.
type Cost struct {
	Case
	Seconds float64 `json:"seconds"` // of the policy, all plans together
	First   float64 `json:"first"`   // seconds of the first plan
	// Median and Longest are seconds of a plan, the first one left out. Others that use
	// the machine at the same time change the median least.
	Median  float64 `json:"median"`
	Longest float64 `json:"longest"`
	Plans   int     `json:"plans"`
	// Greedy and Exact are the seconds that all knapsacks of a case of Knapsacks took.
	Greedy float64 `json:"greedy,omitempty"`
	Exact  float64 `json:"exact,omitempty"`
}

// Plan returns the mean seconds of a plan, the first one left out where there are others.
func (c *Cost) Plan() float64 {
	if c.Plans < 2 {
		return c.Seconds
	}
	return (c.Seconds - c.First) / float64(c.Plans-1)
}

func units(d batch.Duration) float64 { return float64(d) / float64(Unit) }

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
	case least(c.Seed, c.Arrival, c.Machines, c.Licenses, c.Jobs) < 0 || c.Rate < 0 || c.Ratio.Low < 0 ||
		c.Ratio.High < c.Ratio.Low:
		return "a number of the case is negative, or a range has no element"
	}
	return ""
}

func (r *Row) wrong() string {
	numbers := []float64{r.Slowdown, r.WorstSlowdown, r.Wait, r.Lateness, r.MachineUsage, r.LicenseUsage, r.Span}
	counts := append([]int{r.Ended, r.Killed, r.Dated, r.Late, r.Hopeless, r.Preemptions, r.Migrations, r.Plans},
		r.Workload...)
	if k := r.Knapsacks; k != nil {
		counts = append(counts, k.Calls, k.Proven)
		numbers = append(numbers, k.Greedy.Smallest, k.Greedy.Mean, k.Greedy.Best, k.Exact.Smallest, k.Exact.Mean,
			k.Exact.Best, k.Value, k.Worst, k.Bound)
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
