package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Tuning is the method that chooses a shape from a menu.
type Tuning uint8

// The methods.
const (
	// Exhaustive estimates all shapes at once and takes the best one.
	Exhaustive Tuning = iota
	// Binary is the paper's binary search over the menu. It estimates one shape at a time and can
	// miss the best: of three shapes, the widest may not fit before a hole and the narrowest may be
	// too long for it, while the middle one fits.
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

// choice is a shape of a menu with its estimate.
type choice struct {
	index int // in the menu; -1 if no shape can start
	start batch.Time
	end   batch.Time
	kind  batch.Kind
	p     float64
}

// tuner chooses shapes, and reuses its buffers.
type tuner struct {
	method Tuning
	asks   [1]batch.Ask
	out    [1]batch.Estimate
}

// tune returns the shape with the earliest completion; a tie goes to the smaller width. It returns
// false if the planner gives no estimates. ask.Shapes is the menu: at least one shape, in ascending
// width.
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

// best returns the first shape with the earliest completion.
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

// binary is the search of section 3.2.1. It evaluates both ends, then the middle, and continues in
// the half beside the better end (the lower half at a tie) until nothing is left between them. The
// best of all evaluated shapes wins.
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
