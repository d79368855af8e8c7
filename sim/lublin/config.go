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

// Config says what workload is wanted. Two workloads of the same Config are the
// same.
type Config struct {
	// Either Jobs or Days says how long it is; the other is 0. Days with a load
	// are the most whole jobs whose work makes no more than that load in that
	// time, and one at least; without, all jobs that come in it.
	Jobs, Days int
	// Procs are the processors of the machine.
	Procs int
	// Load is the offered load, MinLoad to MaxLoad, or 0 for the one the model
	// happens to have.
	Load float64
	// Seed picks one of 2^64 workloads. Length, load, estimates and users make no
	// difference to which jobs are drawn: under one seed those of a short workload
	// are the first ones of a long one, and another load moves them only in time.
	Seed      uint64
	Classes   Classes
	Estimates Estimates
	// Users are how many users the jobs are drawn from; 0 leaves them unknown.
	Users int
}

// FieldError is a field of a [Config] that is out of its range, by the name that
// its flag has.
type FieldError struct {
	Field, Value, Accepted string
}

// Error reads like "procs: 0, accepted: 1..67108864".
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s, accepted: %s", e.Field, e.Value, e.Accepted)
}

// Validate reports everything that is wrong, each a [*FieldError].
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

// scaled says whether a load was asked for.
func (c *Config) scaled() bool { return c.Load != 0 }

// decimal writes a number as short as it can be read back.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// parameters are the constants of one class of jobs, as the authors published
// them.
type parameters struct {
	name  string
	queue int32 // by the custom of SWF 0 is interactive

	// Of the width: the probabilities of serial jobs and of powers of two, and
	// the two uniforms of its binary logarithm, low to middle and middle to high.
	serial, powerOfTwo float64
	low, middle, high  float64
	first              float64 // probability of the first uniform

	// Of the logarithm of the runtime: shapes and scales of both gammas, and the
	// probability of the short one, slope * width + base.
	shortShape, shortScale float64
	longShape, longScale   float64
	slope, base            float64

	// Of the logarithm of the gap to the next job: a gamma fitted to the rush
	// hours, whose shape is corrected for the whole day by ratio.
	gapShape, gapScale, ratio float64

	// Of the cycle: a gamma over the half hours of a day.
	dayShape, dayScale float64
}

// published is the machine that high and middle are given for: 2^7 processors.
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

// The model draws again what is beyond these: e^12 seconds are 45 hours, e^13
// five days.
const (
	maxLogRuntime = 12
	maxLogGap     = 13
	// MaxRuntime is that of the longest job, in seconds.
	MaxRuntime = 162754
)

// Classes says which classes of jobs a workload has.
type Classes uint8

// The choices.
const (
	Undivided   Classes = iota // one class, with the parameters for all jobs
	Divided                    // batch and interactive jobs, each with its own parameters
	Batch                      // batch jobs alone
	Interactive                // interactive jobs alone
)

var classNames = [...]string{Undivided: "undivided", Divided: "divided", Batch: "batch", Interactive: "interactive"}

// String returns the name that [ParseClasses] reads.
func (c Classes) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("Classes(%d)", uint8(c))
}

// ParseClasses reads a name. The error is a [*FieldError].
func ParseClasses(s string) (Classes, error) {
	for c, name := range classNames {
		if s == name {
			return Classes(c), nil
		}
	}
	return 0, &FieldError{Field: "classes", Value: s, Accepted: "undivided, divided, batch, interactive"}
}

// parameters returns those of the classes that a workload has.
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
