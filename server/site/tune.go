package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Tuning is how a shape is chosen from a menu.
type Tuning uint8

// The ways of tuning.
const (
	// Exhaustive asks for all shapes at once and takes the best.
	Exhaustive Tuning = iota
	// Binary is the paper's binary search over the menu, which asks for one shape
	// at a time and can miss the best: a job that is too wide to fit before a
	// hole and too long for it when narrow may fit in between.
	Binary
)

// ParseTuning reads a tuning's name; "" is Exhaustive.
func ParseTuning(s string) (Tuning, error) {
	switch s {
	case "", "exhaustive":
		return Exhaustive, nil
	case "binary":
		return Binary, nil
	}
	return 0, fmt.Errorf("tuning: %q, accepted: exhaustive, binary", s)
}

// String returns the tuning's name.
func (t Tuning) String() string {
	switch t {
	case Exhaustive:
		return "exhaustive"
	case Binary:
		return "binary"
	}
	return "unspecified"
}

// choice is one shape of a menu with its estimate.
type choice struct {
	index int // in the menu; -1 for none that can start
	start batch.Time
	end   batch.Time
	kind  batch.Kind
	p     float64
}

// tuner chooses shapes and keeps the buffers for it.
type tuner struct {
	method Tuning
	asks   [1]batch.Ask
	out    [1]batch.Estimate
}

// tune returns the shape of earliest completion, ties to the smaller width. It
// returns false when the planner gives no estimates. ask.Shapes is the menu, at
// least one shape in ascending width.
func (t *tuner) tune(now batch.Time, ask batch.Ask, planner Planner) (choice, bool) {
	if t.method == Binary && len(ask.Shapes) > 1 {
		return t.binary(now, ask, planner)
	}
	ask.Best = true
	t.asks[0] = ask
	if !planner.Estimate(now, t.asks[:], t.out[:]) {
		return choice{index: -1}, false
	}
	return best(ask.Shapes, &t.out[0]), true
}

// best returns the first shape of earliest completion.
func best(menu []batch.Shape, e *batch.Estimate) choice {
	c := choice{index: -1, start: batch.Never, end: batch.Never, kind: e.Kind, p: e.P}
	for i, start := range e.Starts[:len(menu)] {
		if start == batch.Never {
			continue
		}
		if end := e.End(i, menu[i].Walltime); c.index < 0 || end < c.end {
			c.index, c.start, c.end = i, start, end
		}
	}
	return c
}

// binary is the search of section 3.2.1: evaluate both ends, then the middle;
// go on in the half beside the better end (the lower one at a tie), until there
// is nothing left between; the best of all that was tested wins.
func (t *tuner) binary(now batch.Time, ask batch.Ask, planner Planner) (choice, bool) {
	menu := ask.Shapes
	won := choice{index: -1, start: batch.Never, end: batch.Never}
	planned := true
	test := func(i int) batch.Time {
		ask.Shapes = menu[i : i+1]
		t.asks[0] = ask
		if !planner.Estimate(now, t.asks[:], t.out[:]) {
			planned = false
			return batch.Never
		}
		e := &t.out[0]
		start := e.Starts[0]
		if start == batch.Never {
			return batch.Never
		}
		end := e.End(0, menu[i].Walltime)
		if won.index < 0 || end < won.end || (end == won.end && i < won.index) {
			won = choice{index: i, start: start, end: end, kind: e.Kind, p: e.P}
		}
		return end
	}
	lo, hi := 0, len(menu)-1
	atLo, atHi := test(lo), test(hi)
	for hi-lo > 1 && planned {
		mid := lo + (hi-lo)/2
		if end := test(mid); atLo <= atHi {
			hi, atHi = mid, end
		} else {
			lo, atLo = mid, end
		}
	}
	return won, planned
}
