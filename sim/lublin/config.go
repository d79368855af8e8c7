package lublin

import (
	"errors"
	"fmt"
	"strconv"
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
