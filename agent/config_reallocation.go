package agent

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// Reallocation is how waiting jobs change sites.
type Reallocation struct {
	// Period is the time between two rounds, 1s or more; 0 or off: only on demand.
	Period    string `yaml:"period"`
	Algorithm string `yaml:"algorithm"` // regular, all-cancellation
	Heuristic string `yaml:"heuristic"` // mct, minmin, maxmin, sufferage, maxgain, maxrelgain
	Window    string `yaml:"window"`    // how many of the oldest jobs the heuristic compares, or all
	// Threshold is what regular demands of a move if it is not known how long the
	// job's input would travel, LeastGain what any move must bring.
	Threshold time.Duration `yaml:"threshold"`
	LeastGain time.Duration `yaml:"least_gain"`
	// MostMoves bounds the moves of a job, MostMovesRound those of a round; 0 is no
	// bound.
	MostMoves      int `yaml:"most_moves"`
	MostMovesRound int `yaml:"most_moves_round"`
	// Patience is how often a job may be put back later than it was before it keeps
	// its place; off: no bound.
	Patience string `yaml:"patience"`
}

// off is a period without rounds.
const off = "off"

// defaultReallocation returns what the core has as its default.
func defaultReallocation() Reallocation {
	d := reallocation.Default
	return Reallocation{
		Period: "1h", Algorithm: d.Algorithm.String(), Heuristic: d.Heuristic.String(), Window: d.Window.String(),
		Threshold: d.Threshold.Std(), LeastGain: d.LeastGain.Std(),
		MostMoves: d.MostMoves, MostMovesRound: d.MostMovesRound, Patience: reallocation.PatienceText(d.Patience),
	}
}

// rounds returns the configuration in the words of the core, with period 0 for
// rounds only on demand, and everything that is wrong with it. Keys are without
// that of the section.
func (r *Reallocation) rounds() (c reallocation.Config, period batch.Duration, errs []*FieldError) {
	bad := func(key, value, accepted string) {
		errs = append(errs, &FieldError{Key: key, Value: value, Accepted: accepted})
	}
	if r.Period != off && r.Period != "0" {
		d, err := time.ParseDuration(r.Period)
		if err != nil || d != 0 && d < time.Second || d > longestPeriod {
			bad("period", r.Period, fmt.Sprintf("1s..%v, or 0 or off for rounds only on demand", longestPeriod))
		}
		period = micros(d)
	}
	var err error
	if c.Algorithm, err = reallocation.ParseAlgorithm(r.Algorithm); err != nil {
		bad("algorithm", r.Algorithm, accepted(err))
	}
	if c.Heuristic, err = reallocation.ParseHeuristic(r.Heuristic); err != nil {
		bad("heuristic", r.Heuristic, accepted(err))
	}
	if c.Window, err = reallocation.ParseWindow(r.Window); err != nil {
		bad("window", r.Window, accepted(err))
	}
	length := func(key string, d time.Duration) batch.Duration {
		if d < 0 {
			bad(key, d.String(), "0s or more")
		}
		return micros(d)
	}
	c.Threshold, c.LeastGain = length("threshold", r.Threshold), length("least_gain", r.LeastGain)
	bound := func(key string, n int) int {
		if n < 0 {
			bad(key, strconv.Itoa(n), "0 (no bound) or more")
		}
		return n
	}
	c.MostMoves, c.MostMovesRound = bound("most_moves", r.MostMoves), bound("most_moves_round", r.MostMovesRound)
	if c.Patience, err = reallocation.ParsePatience(r.Patience); err != nil {
		bad("patience", r.Patience, accepted(err))
	}
	c.Period = batch.Hour // rounds do not look at it
	return c, period, errs
}

// longestPeriod is the largest Reallocation.Period.
const longestPeriod = 366 * 24 * time.Hour

// accepted returns what an error of the core says is accepted.
func accepted(err error) string {
	_, what, _ := strings.Cut(err.Error(), "accepted: ")
	return what
}
