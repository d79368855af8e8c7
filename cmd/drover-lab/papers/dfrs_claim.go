package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
)

// DFRSClaim is something that the paper on fractional scheduling says about its
// results.
type DFRSClaim struct {
	ID      string
	Section string
	Says    string
	Test    string // by what it is taken to hold
	check   func(*dfrsStudy) finding
}

// DFRSResult is a claim and what was measured.
type DFRSResult struct {
	DFRSClaim
	Measured string
	Verdict  Verdict
	Why      string // it differs
}

// DFRSClaims returns all claims, in the order of the paper.
func DFRSClaims() []DFRSClaim {
	return slices.Concat(stretchClaims, groupClaims, packedClaims, loadClaims, costClaims, underuseClaims)
}

// Words that the paper uses, as numbers. They are such that the paper's own tables hold
// them, which a test checks; where those do not, the claim says so.
const (
	tenfold   = 10
	orders    = 100 // "orders of magnitude"
	alikeDFRS = 0.1 // "similar", "on par"
)

// The groups of table 2.
var (
	batchOnly    = []string{fractional.FCFS, fractional.EASY}
	purelyGreedy = []string{"Greedy*/opt=min", "GreedyP*/opt=min", "GreedyPM*/opt=min"}
	greedyPer    = []string{"Greedy/per/opt=min", "GreedyP/per/opt=min", "GreedyPM/per/opt=min"}
	greedyStar   = []string{"Greedy*/per/opt=min", "GreedyP*/per/opt=min", "GreedyPM*/per/opt=min"}
	greedyMinvt  = []string{"GreedyP/per/opt=min/minvt=600", "GreedyPM/per/opt=min/minvt=600", "GreedyP*/per/opt=min/minvt=600", dfrsDefault}
	packers      = []string{"MCB8*/opt=min/minvt=600", "MCB8/per/opt=min/minvt=600", "MCB8*/per/opt=min/minvt=600"}
)

const (
	onlyPer     = "/per/opt=min/minvt=600"
	onlyStretch = "/stretch-per/opt=max/minvt=600"
	secondBest  = "GreedyP*/per/opt=min/minvt=600"
)

var (
	allSets   = []string{fractional.HPC2N, fractional.Unscaled, fractional.Scaled}
	synthetic = []string{fractional.Unscaled, fractional.Scaled}
)

// figuresOf returns a figure of each algorithm on a set; false if one lacks.
func (s *dfrsStudy) figuresOf(set string, of []string, m measure) ([]stat, bool) {
	var all []stat
	for _, a := range of {
		v, ok := s.at(set, a, m)
		if !ok {
			return nil, false
		}
		all = append(all, v)
	}
	return all, true
}

func averages(all []stat) []float64 { return each(all, func(s stat) float64 { return s.avg }) }
func spreads(all []stat) []float64  { return each(all, func(s stat) float64 { return s.std }) }
func worsts(all []stat) []float64   { return each(all, func(s stat) float64 { return s.max }) }

func each[T any](all []T, of func(T) float64) []float64 {
	var v []float64
	for _, s := range all {
		v = append(v, of(s))
	}
	return v
}

// onSets holds if a check does on each set; it is open if it is on one.
func onSets(sets []string, check func(s *dfrsStudy, set string) finding) func(*dfrsStudy) finding {
	return func(s *dfrsStudy) finding {
		holds, texts := true, []string{}
		for _, set := range sets {
			f := check(s, set)
			if f.verdict == Open {
				return open
			}
			holds = holds && f.verdict == Holds
			texts = append(texts, set+": "+f.measured)
		}
		return found(holds, "%s", strings.Join(texts, "; "))
	}
}

// atMost compares two algorithms' means: the first is at most a part of the second.
func atMost(part float64, a, b string) func(s *dfrsStudy, set string) finding {
	return func(s *dfrsStudy, set string) finding {
		v, ok := s.figuresOf(set, []string{a, b}, degradation)
		if !ok {
			return open
		}
		return found(v[0].avg <= part*v[1].avg, "%s and %s", tenth(v[0].avg), tenth(v[1].avg))
	}
}

// pairsOf compares the algorithms of two lists one by one on all sets.
func pairsOf(a, b []string, holds func(a, b float64) bool, enough func(n, of int) bool) func(*dfrsStudy) finding {
	return func(s *dfrsStudy) finding {
		n, of := 0, 0
		var texts []string
		for _, set := range allSets {
			v, okA := s.figuresOf(set, a, degradation)
			w, okB := s.figuresOf(set, b, degradation)
			if !okA || !okB {
				return open
			}
			var parts []string
			for i := range v {
				of++
				if holds(v[i].avg, w[i].avg) {
					n++
				}
				parts = append(parts, times(v[i].avg, w[i].avg))
			}
			texts = append(texts, set+" "+strings.Join(parts, ", "))
		}
		return found(enough(n, of), "%d of %d; one in parts of the other: %s", n, of, strings.Join(texts, "; "))
	}
}

// leastOf returns the least value and whose it is.
func leastOf(names []string, v []float64) (string, float64) {
	least := 0
	for i := range v {
		if v[i] < v[least] {
			least = i
		}
	}
	return names[least], v[least]
}

func closeBy(a, b float64) bool { return a <= b*(1+alikeDFRS) && b <= a*(1+alikeDFRS) }

// fromTo writes from where to where values go.
func fromTo(v []float64, write func(float64) string) string {
	return fmt.Sprintf("%s to %s", write(slices.Min(v)), write(slices.Max(v)))
}
