package heuristic

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Constants are those of the seven heuristics.
type Constants struct {
	DeadlineMax Constant // MAX: f1 at the deadline
	DeadlineMin Constant // MIN: f1 while the deadline is far away, and when it is missed
	DeadlineK   Constant // k: f1 rises from k times the remaining time before the deadline
	Licenses    Constant // LI
	Input       Constant // IN
	Wait        Constant // WM
	Overhead    Constant // Δ
	Aging       Constant // AA, for each AgingUnit
	// AgingUnit is the unit of the paper's time. 0 is a second.
	AgingUnit batch.Duration
	// WaitPerJob measures a job's remaining time against its own on its slowest machine
	// instead of the longest of all jobs; see Wait.
	WaitPerJob bool
}

// Paper returns the constants of the paper's tests, with jobs that can be preempted.
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

// KeepRunning is the paper's Δ of Overhead where jobs cannot be preempted: so much that
// what runs stays. It is no proof: the deadline's part of an entry may be larger, and a
// matching with more associations may move a job. farm.Job.Held is for that.
const KeepRunning = 800 * One

// Heuristics returns the six that add points, in the paper's order. This is where one
// is added.
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

// Keys are the names under which a configuration sets the constants.
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

// Set takes in a constant by its key, which is one of Keys. It returns what would have
// been accepted if it cannot, else "".
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

// Validate says which constants do not go together, or are none; "" if all is well.
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
		return fmt.Errorf("heuristics: deadlineMin: %v, accepted: at most deadlineMax, %v", c.DeadlineMin, c.DeadlineMax)
	}
	if c.AgingUnit < 0 {
		return fmt.Errorf("heuristics: unit of aging: %d, accepted: 1 us or more, 0 for a second", c.AgingUnit)
	}
	return nil
}

// The least and the largest k: with 0 there would be no rise.
const (
	kLeast = One / 1000
	kMost  = 1000 * One
)
