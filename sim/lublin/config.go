package lublin

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Limits of a [Config].
const (
	MaxJobs  = 10_000_000 // in a workload
	MaxDays  = 100_000    // 270 years
	MaxProcs = 1 << 26    // of the machine
	MaxUsers = 1_000_000
	MinLoad  = 0.01
	MaxLoad  = 100.
)

// Config describes a workload. Equal Configs give equal workloads.
type Config struct {
	// Either Jobs or Days sets the length; the other is 0. Days with a load give the largest
	// number of jobs, at least one, with no more than that load in that time. Days without a
	// load give all jobs that arrive in that time.
	Jobs, Days int
	// Procs is the number of processors of the machine.
	Procs int
	// Load is the offered load, MinLoad to MaxLoad, or 0 for the natural load of the model.
	Load float64
	// Seed selects one of 2^64 workloads. Length, load, estimates and users do not change which
	// jobs are drawn: with one seed, a short workload is the beginning of a long one, and
	// another load only shifts the jobs in time.
	Seed      uint64
	Classes   Classes
	Estimates Estimates
	// Users is the number of users to draw from; 0 leaves users unknown.
	Users int
}

// FieldError reports a field of a [Config] that is out of its range, by the name of its flag.
type FieldError struct {
	Field, Value, Accepted string
}

// Error returns a text such as "procs: 0, accepted: 1..67108864".
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s, accepted: %s", e.Field, e.Value, e.Accepted)
}

// Validate reports all problems, each a [*FieldError].
func (c *Config) Validate() error {
	var errs []error
	wrong := func(field, value, format string, args ...any) {
		errs = append(errs, &FieldError{Field: field, Value: value, Accepted: fmt.Sprintf(format, args...)})
	}
	if (c.Jobs == 0) == (c.Days == 0) {
		wrong("jobs", fmt.Sprintf("%d, and days: %d", c.Jobs, c.Days), "one of the two")
	}
	if c.Jobs < 0 || c.Jobs > MaxJobs {
		wrong("jobs", strconv.Itoa(c.Jobs), "1..%d", MaxJobs)
	}
	if c.Days < 0 || c.Days > MaxDays {
		wrong("days", strconv.Itoa(c.Days), "1..%d", MaxDays)
	}
	if c.Procs < 1 || c.Procs > MaxProcs {
		wrong("procs", strconv.Itoa(c.Procs), "1..%d", MaxProcs)
	}
	if inside := c.Load >= MinLoad && c.Load <= MaxLoad; !inside && c.scaled() {
		wrong("load", decimal(c.Load), "%g..%g", MinLoad, MaxLoad)
	}
	if int(c.Classes) >= len(classNames) {
		wrong("classes", c.Classes.String(), "undivided, divided, batch, interactive")
	}
	if err := c.Estimates.validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Users < 0 || c.Users > MaxUsers {
		wrong("users", strconv.Itoa(c.Users), "0..%d", MaxUsers)
	}
	return errors.Join(errs...)
}

// scaled reports whether a load was requested.
func (c *Config) scaled() bool { return c.Load != 0 }

// decimal returns the shortest text that parses to the same number.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// parameters are the constants of one class of jobs, as published by the authors.
type parameters struct {
	name  string
	queue int32 // in SWF, 0 is interactive by convention

	// Width: the probabilities of serial jobs and of powers of two, and the two uniforms of the
	// binary logarithm, low to middle and middle to high.
	serial, powerOfTwo float64
	low, middle, high  float64
	first              float64 // probability of the first uniform

	// Logarithm of the runtime: shapes and scales of both gammas, and the probability of the
	// short one, slope * width + base.
	shortShape, shortScale float64
	longShape, longScale   float64
	slope, base            float64

	// Logarithm of the gap to the next job: a gamma fitted to the rush hours; ratio corrects
	// its shape for the whole day.
	gapShape, gapScale, ratio float64

	// Daily cycle: a gamma over the half hours of a day.
	dayShape, dayScale float64
}

// published is the machine for which high and middle are given: 2^7 processors.
const published = 7

var (
	allJobs = parameters{
		name: "all jobs", queue: swf.Unknown,
		serial: 0.244, powerOfTwo: 0.576, low: 0.8, middle: 4.5, high: 7, first: 0.86,
		shortShape: 4.2, shortScale: 0.94, longShape: 312, longScale: 0.03, slope: -0.0054, base: 0.78,
		gapShape: 10.2303, gapScale: 0.4871, ratio: 1.0225, dayShape: 8.1737, dayScale: 3.9631,
	}
	batchJobs = parameters{
		name: "batch", queue: 1,
		serial: 0.2927, powerOfTwo: 0.6686, low: 1.2, middle: 5, high: 7, first: 0.875,
		shortShape: 6.57, shortScale: 0.823, longShape: 639.1, longScale: 0.0156, slope: -0.003, base: 0.6986,
		gapShape: 6.0415, gapScale: 0.8531, ratio: 1.0519, dayShape: 6.1271, dayScale: 5.2740,
	}
	interactiveJobs = parameters{
		name: "interactive", queue: 0,
		serial: 0.1541, powerOfTwo: 0.625, low: 1, middle: 3, high: 5.5, first: 0.705,
		shortShape: 3.8351, shortScale: 0.6605, longShape: 7.073, longScale: 0.6856, slope: -0.0118, base: 0.9156,
		gapShape: 6.5510, gapScale: 0.6621, ratio: 0.9797, dayShape: 8.9186, dayScale: 3.6680,
	}
)

// The model redraws values above these: e^12 seconds are 45 hours, e^13 five days.
const (
	maxLogRuntime = 12
	maxLogGap     = 13
	// MaxRuntime is the runtime of the longest job, in seconds.
	MaxRuntime = 162754
)

// Classes selects the classes of jobs in a workload.
type Classes uint8

// Classes of jobs.
const (
	Undivided   Classes = iota // one class, with the parameters for all jobs
	Divided                    // batch and interactive jobs, each with its own parameters
	Batch                      // only batch jobs
	Interactive                // only interactive jobs
)

var classNames = [...]string{Undivided: "undivided", Divided: "divided", Batch: "batch", Interactive: "interactive"}

// String returns the name that [ParseClasses] parses.
func (c Classes) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("Classes(%d)", uint8(c))
}

// ParseClasses parses a name. The error is a [*FieldError].
func ParseClasses(s string) (Classes, error) {
	for c, name := range classNames {
		if s == name {
			return Classes(c), nil
		}
	}
	return 0, &FieldError{Field: "classes", Value: s, Accepted: "undivided, divided, batch, interactive"}
}

// parameters returns the parameters of the selected classes.
func (c Classes) parameters() []*parameters {
	switch c {
	case Divided:
		return []*parameters{&batchJobs, &interactiveJobs}
	case Batch:
		return []*parameters{&batchJobs}
	case Interactive:
		return []*parameters{&interactiveJobs}
	case Undivided:
	}
	return []*parameters{&allJobs}
}
