package reallocation

import (
	"fmt"
	"strings"
)

// Plan says which experiments the figures are made of: each couple, dedicated and
// not, on each scenario with each seed.
type Plan struct {
	Scenarios []string
	Seeds     []uint64
	Tuning    string
}

// Paper is the plan of the paper: 7 scenarios and 10 seeds, 560 experiments.
var Paper = Plan{
	Scenarios: []string{"pwa", "m1", "m2", "m3", "m4", "m5", "m6"},
	Seeds:     []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	Tuning:    binary,
}

// couple is an algorithm with a heuristic, by the paper's name for it.
type couple struct{ name, algorithm, heuristic string }

var (
	mctReg    = couple{"MCT-reg", regular, mct}
	minminReg = couple{"MinMin-reg", regular, minmin}
	mctCan    = couple{"MCT-can", cancellation, mct}
	minminCan = couple{"MinMin-can", cancellation, minmin}

	couples = []couple{mctReg, minminReg, mctCan, minminCan}
	regs    = []couple{mctReg, minminReg}
	cans    = []couple{mctCan, minminCan}
)

// The paper's settings.
const (
	paperWindow    = "20"
	paperPeriod    = "3600"
	paperThreshold = "60"
	unguarded      = "off"
)

// way returns the couple under the paper's settings.
func (c couple) way() Way {
	return Way{c.algorithm, c.heuristic, paperWindow, paperPeriod, paperThreshold, unguarded}.meaning()
}

// coupleOf names a way: the paper's name where it has one.
func coupleOf(w Way) string {
	for _, c := range couples {
		if c.way() == w {
			return c.name
		}
	}
	return fmt.Sprintf("%s %s (window %s, period %s s, threshold %s s, patience %s)", w.Algorithm, w.Heuristic, w.Window, w.Period, w.Threshold, w.Patience)
}

// Experiments returns how many there are.
func (p Plan) Experiments() int { return len(p.experiments()) }

// experiments returns the keys of the plan: by platform, scenario, couple, seed.
func (p Plan) experiments() []Key {
	var all []Key
	for _, dedicated := range []bool{true, false} {
		for _, s := range p.Scenarios {
			for _, c := range couples {
				for _, seed := range p.Seeds {
					all = append(all, Key{Scenario: s, Dedicated: dedicated, Tuning: p.Tuning, Seed: seed, Way: c.way()})
				}
			}
		}
	}
	return all
}

// Lacking returns the experiments of a plan that have no row.
func (r *Rows) Lacking(p Plan) []Key {
	var lacking []Key
	for _, k := range p.experiments() {
		if r.index[k] == nil {
			lacking = append(lacking, k)
		}
	}
	return lacking
}

// LackingError says that the rows are not all that the figures are made of.
type LackingError struct {
	Lacking []Key
	Of      int
}

// namedLacking is how many experiments an error names.
const namedLacking = 10

// Error names the first of them.
func (e *LackingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d experiments lack", len(e.Lacking), e.Of)
	for i, k := range e.Lacking {
		if i == namedLacking {
			fmt.Fprintf(&b, "; and %d more", len(e.Lacking)-i)
			break
		}
		b.WriteString("; " + k.String())
	}
	return b.String()
}
