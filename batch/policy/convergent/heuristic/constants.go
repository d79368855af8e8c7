package heuristic

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Constants are the constants of the seven heuristics.
type Constants struct {
	DeadlineMax Constant // MAX: f1 at the deadline
	DeadlineMin Constant // MIN: f1 long before the deadline, and after it is missed
	DeadlineK   Constant // k: f1 rises from k times the remaining runtime before the deadline
	Licenses    Constant // LI
	Input       Constant // IN
	Wait        Constant // WM
	Overhead    Constant // Δ
	Aging       Constant // AA, per AgingUnit
	// AgingUnit is the paper's unit of time. 0 means a second.
	AgingUnit batch.Duration
	// WaitPerJob compares a job's remaining time with its own on its slowest machine instead of
	// the longest of all jobs; see Wait.
	WaitPerJob bool
}

// Paper returns the constants of the paper's tests with preemption.
func Paper() Constants {
	return Constants{
		DeadlineMax: 10 * One,
		DeadlineMin: One / 10,
		DeadlineK:   13 * One / 10,
		Licenses:    25 * One / 10,
		Input:       3 * One,
		Wait:        4 * One,
		Overhead:    8 * One,
		Aging:       2 * One / 100,
		AgingUnit:   batch.Second,
	}
}

// KeepRunning is the paper's Δ of Overhead without preemption, large enough to keep most
// running jobs in place. It guarantees nothing: the deadline's part of an entry can be larger,
// and a matching with more associations can move a job. Use farm.Job.Held for a guarantee.
const KeepRunning = 800 * One

// Heuristics returns the six that add points, in the paper's order. Add a new heuristic to this
// list.
func (c Constants) Heuristics() []Heuristic {
	return []Heuristic{
		&Deadline{Max: c.DeadlineMax, Min: c.DeadlineMin, K: c.DeadlineK},
		&Licenses{Weight: c.Licenses},
		&Input{Weight: c.Input},
		&Wait{Weight: c.Wait, PerJob: c.WaitPerJob},
		&Overhead{Weight: c.Overhead},
		&Aging{Weight: c.Aging, Unit: c.AgingUnit},
	}
}

// Keys returns the names of the constants in a configuration.
func Keys() []string {
	return []string{"deadlineMax", "deadlineMin", "deadlineK", "licenses", "input", "wait", "overhead", "aging"}
}

// named returns the constant of a key, nil if there is none.
func (c *Constants) named(key string) *Constant {
	switch key {
	case "deadlineMax":
		return &c.DeadlineMax
	case "deadlineMin":
		return &c.DeadlineMin
	case "deadlineK":
		return &c.DeadlineK
	case "licenses":
		return &c.Licenses
	case "input":
		return &c.Input
	case "wait":
		return &c.Wait
	case "overhead":
		return &c.Overhead
	case "aging":
		return &c.Aging
	}
	return nil
}

// Set sets a constant by its key, one of Keys. It returns "" on success, else a description of
// the accepted values.
func (c *Constants) Set(key, value string) string {
	v, err := Parse(value)
	to := c.named(key)
	switch {
	case to == nil:
		return "a key of the heuristics"
	case err != nil:
		return accepted
	case key == "deadlineK" && (v < kLeast || v > kMost):
		return fmt.Sprintf("%v..%v", kLeast, kMost)
	}
	*to = v
	return ""
}

// Validate checks the range of each constant and their combination.
func (c *Constants) Validate() error {
	for _, key := range Keys() {
		if v := *c.named(key); v < 0 || v > most {
			return fmt.Errorf("heuristics: %s: %v, accepted: %s", key, v, accepted)
		}
	}
	if c.DeadlineK < kLeast || c.DeadlineK > kMost {
		return fmt.Errorf("heuristics: deadlineK: %v, accepted: %v..%v", c.DeadlineK, kLeast, kMost)
	}
	if c.DeadlineMin > c.DeadlineMax {
		return fmt.Errorf("heuristics: deadlineMin: %v, accepted: at most deadlineMax, %v",
			c.DeadlineMin, c.DeadlineMax)
	}
	if c.AgingUnit < 0 {
		return fmt.Errorf("heuristics: unit of aging: %d, accepted: 1 us or more, 0 for a second", c.AgingUnit)
	}
	return nil
}

// kLeast and kMost bound k. With k = 0 f1 would not rise.
const (
	kLeast = One / 1000
	kMost  = 1000 * One
)

// Constant is a number of the configuration in millionths, so that a user's decimal is kept
// exactly.
type Constant int64

// One is the constant 1.
const One Constant = 1_000_000

// most is the largest constant, a million.
const most = 1_000_000 * One

// Parse reads a decimal such as 0.02, 10 or 2.5, from 0 to 1000000 with up to six decimals.
func Parse(s string) (Constant, error) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if whole == "" || pointed && fraction == "" || len(fraction) > 6 {
		return 0, fmt.Errorf("constant %q, accepted: %s", s, accepted)
	}
	var c Constant
	for _, digit := range whole + fraction + strings.Repeat("0", 6-len(fraction)) {
		if digit < '0' || digit > '9' || c > most {
			return 0, fmt.Errorf("constant %q, accepted: %s", s, accepted)
		}
		c = c*10 + Constant(digit-'0')
	}
	if c > most {
		return 0, fmt.Errorf("constant %q, accepted: %s", s, accepted)
	}
	return c, nil
}

const accepted = "0..1000000 with up to 6 decimals"

// String formats the constant so that Parse can read it.
func (c Constant) String() string {
	s := fmt.Sprintf("%d.%06d", c/One, c%One)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// points converts the constant to points, rounded to the nearest unit.
func (c Constant) points() farm.Points {
	return (int64(c)*farm.Point + int64(One)/2) / int64(One)
}

// units converts the constant to units of points, without rounding.
func (c Constant) units() float64 { return float64(float64(c)*float64(farm.Point)) / float64(One) }
