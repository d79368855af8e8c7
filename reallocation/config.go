package reallocation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Algorithm is what a round does with the waiting jobs.
type Algorithm uint8

// The algorithms.
const (
	Regular Algorithm = iota
	AllCancellation
)

// Heuristic is the order in which a round picks jobs.
type Heuristic uint8

// The heuristics.
const (
	MCT Heuristic = iota
	MinMin
	MaxMin
	Sufferage
	MaxGain
	MaxRelGain
)

var (
	algorithms = []string{"regular", "all-cancellation"}
	heuristics = []string{"mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain"}
)

// String returns the algorithm's name.
func (a Algorithm) String() string { return name(algorithms, int(a)) }

// String returns the heuristic's name.
func (h Heuristic) String() string { return name(heuristics, int(h)) }

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unspecified"
}

// ParseAlgorithm reads an algorithm's name; "" is regular.
func ParseAlgorithm(s string) (Algorithm, error) {
	i, err := parse("algorithm", algorithms, s)
	return Algorithm(i), err
}

// ParseHeuristic reads a heuristic's name; "" is mct.
func ParseHeuristic(s string) (Heuristic, error) {
	i, err := parse("heuristic", heuristics, s)
	return Heuristic(i), err
}

func parse(key string, names []string, s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	i := slices.Index(names, s)
	if i < 0 {
		return 0, fmt.Errorf("%s: %q, accepted: %s", key, s, strings.Join(names, ", "))
	}
	return i, nil
}

// Window is how many of the oldest waiting jobs a heuristic compares. MCT ignores it and
// takes all jobs in order.
type Window int

// All is the window over the whole queue.
const All Window = -1

const whole = "all"

// String returns what ParseWindow reads.
func (w Window) String() string {
	if w == All {
		return whole
	}
	return strconv.Itoa(int(w))
}

// ParseWindow reads a number, or all.
func ParseWindow(s string) (Window, error) {
	if s == whole {
		return All, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("window: %q, accepted: at least 1, or all", s)
	}
	return Window(n), nil
}

// Config configures rounds.
type Config struct {
	Algorithm Algorithm
	Heuristic Heuristic
	Window    Window
	// Period is the time between two rounds. Rounds themselves ignore it.
	Period batch.Duration
	// Threshold is the minimum gain of a move under regular if the transfer time of the job's
	// input is not known.
	Threshold batch.Duration
	// LeastGain is the minimum gain of any move.
	LeastGain batch.Duration
	// MostMoves bounds the moves of a job, MostMovesRound those of a round; 0 for no bound.
	MostMoves, MostMovesRound int
	// Patience is how often rounds may delay a job before it keeps its slot; Starve for no
	// bound.
	Patience int
}

// Starve is a Patience that turns off the guard against starvation.
const Starve = -1

const off = "off"

// ParsePatience reads a number, or off.
func ParsePatience(s string) (int, error) {
	if s == off {
		return Starve, nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("patience: %q, accepted: 0 or more, or off", s)
	}
	return int(n), nil
}

// PatienceText returns what ParsePatience reads.
func PatienceText(n int) string {
	if n == Starve {
		return off
	}
	return strconv.Itoa(n)
}

// Default is the paper's configuration of the regular algorithm under MCT, with
// the guard.
var Default = Config{Window: 20, Period: batch.Hour, Threshold: batch.Minute, Patience: 3}

// Validate returns all problems at once, each with its key.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if int(c.Algorithm) >= len(algorithms) {
		bad("algorithm: %d, accepted: %s", c.Algorithm, strings.Join(algorithms, ", "))
	}
	if int(c.Heuristic) >= len(heuristics) {
		bad("heuristic: %d, accepted: %s", c.Heuristic, strings.Join(heuristics, ", "))
	}
	if c.Window < 1 && c.Window != All {
		bad("window: %d, accepted: at least 1, or all", int(c.Window))
	}
	if c.Period < batch.Second {
		bad("period: %v, accepted: at least 1s", c.Period)
	}
	for _, d := range []struct {
		key string
		d   batch.Duration
	}{{"threshold", c.Threshold}, {"least_gain", c.LeastGain}} {
		if d.d < 0 {
			bad("%s: %v, accepted: at least 0s", d.key, d.d)
		}
	}
	if c.MostMoves < 0 {
		bad("most_moves: %d, accepted: 0 (no bound) or more", c.MostMoves)
	}
	if c.MostMovesRound < 0 {
		bad("most_moves_round: %d, accepted: 0 (no bound) or more", c.MostMovesRound)
	}
	if c.Patience < Starve {
		bad("patience: %d, accepted: 0 or more, or off", c.Patience)
	}
	return errors.Join(errs...)
}
