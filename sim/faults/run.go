package faults

import (
	"fmt"
	"strings"
)

// Result is what came of one seed.
type Result struct {
	Seed   uint64
	Counts Counts
	Wrong  string // what is wrong; empty when nothing is
	Trace  string // of a failure, or of a run that was to be traced
}

// Run runs a seed. A trace is kept only of one that fails, and costs it a second
// run.
func Run(seed uint64, plant Plant) Result {
	r, _ := try(seed, plant, nil)
	if r.Wrong != "" {
		return Trace(seed, plant)
	}
	return r
}

// Trace runs a seed and keeps what happens.
func Trace(seed uint64, plant Plant) Result {
	t := &trace{}
	r, w := try(seed, plant, t)
	r.Trace = t.text(w.culprit(r.Wrong))
	return r
}

// try runs a seed up to the first thing that is wrong.
func try(seed uint64, plant Plant, t *trace) (r Result, w *world) {
	w = newWorld(seed, plant, t)
	r.Seed = seed
	defer func() {
		r.Counts = w.counts
		switch p := recover().(type) {
		case nil:
		case violation:
			r.Wrong = string(p)
		case string: // of the engine and its ledger
			r.Wrong = p
		default:
			panic(p)
		}
		if t != nil && r.Wrong != "" {
			t.add(w.now, nil, nil, "WRONG: "+r.Wrong)
		}
	}()
	w.run()
	return r, w
}

// culprit returns the job that a violation is about; nil for none.
func (w *world) culprit(wrong string) *fact {
	for _, f := range w.facts {
		if strings.HasPrefix(wrong, fmt.Sprintf("job j%d:", f.n)) {
			return f
		}
	}
	return nil
}
