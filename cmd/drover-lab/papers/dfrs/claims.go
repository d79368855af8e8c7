package dfrs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// Claims returns all claims, in the order of the paper.
func Claims() []papers.Claim[*study] {
	return slices.Concat(stretchClaims, groupClaims, packedClaims, loadClaims, costClaims, underuseClaims)
}

// Words that the paper uses, as numbers. They are such that the paper's own tables hold
// them, which a test checks; where those do not, the claim says so.
const (
	tenfold   = 10
	orders    = 100 // "orders of magnitude"
	similarly = 0.1 // "similar", "on par"
)

// The groups of table 2.
var (
	batchOnly    = []string{fractional.FCFS, fractional.EASY}
	purelyGreedy = []string{"Greedy*/opt=min", "GreedyP*/opt=min", "GreedyPM*/opt=min"}
	greedyPer    = []string{"Greedy/per/opt=min", "GreedyP/per/opt=min", "GreedyPM/per/opt=min"}
	greedyStar   = []string{"Greedy*/per/opt=min", "GreedyP*/per/opt=min", "GreedyPM*/per/opt=min"}
	greedyMinvt  = []string{
		"GreedyP/per/opt=min/minvt=600", "GreedyPM/per/opt=min/minvt=600",
		"GreedyP*/per/opt=min/minvt=600", recommended,
	}
	packers = []string{"MCB8*/opt=min/minvt=600", "MCB8/per/opt=min/minvt=600", "MCB8*/per/opt=min/minvt=600"}
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
func (s *study) figuresOf(set string, of []string, m measure) ([]stat, bool) {
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

func averages(all []stat) []float64 { return papers.Each(all, func(s stat) float64 { return s.avg }) }

func spreads(all []stat) []float64 { return papers.Each(all, func(s stat) float64 { return s.std }) }

func worsts(all []stat) []float64 { return papers.Each(all, func(s stat) float64 { return s.max }) }

// onSets holds if a check does on each set; it is open if it is on one.
func onSets(sets []string, check func(s *study, set string) papers.Finding) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		holds, texts := true, []string{}
		for _, set := range sets {
			f := check(s, set)
			if f.Verdict == papers.Open {
				return papers.NotMeasured
			}
			holds = holds && f.Verdict == papers.Holds
			texts = append(texts, set+": "+f.Measured)
		}
		return papers.Found(holds, "%s", strings.Join(texts, "; "))
	}
}

// atMost compares two algorithms' means: the first is at most a part of the second.
func atMost(part float64, a, b string) func(s *study, set string) papers.Finding {
	return func(s *study, set string) papers.Finding {
		v, ok := s.figuresOf(set, []string{a, b}, degradation)
		if !ok {
			return papers.NotMeasured
		}
		return papers.Found(v[0].avg <= part*v[1].avg, "%s and %s", papers.Tenth(v[0].avg), papers.Tenth(v[1].avg))
	}
}

// pairsOf compares the algorithms of two lists one by one on all sets.
func pairsOf(a, b []string, holds func(a, b float64) bool, enough func(n, of int) bool) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		n, of := 0, 0
		var texts []string
		for _, set := range allSets {
			v, okA := s.figuresOf(set, a, degradation)
			w, okB := s.figuresOf(set, b, degradation)
			if !okA || !okB {
				return papers.NotMeasured
			}
			var parts []string
			for i := range v {
				of++
				if holds(v[i].avg, w[i].avg) {
					n++
				}
				parts = append(parts, papers.Times(v[i].avg, w[i].avg))
			}
			texts = append(texts, set+" "+strings.Join(parts, ", "))
		}
		return papers.Found(enough(n, of), "%d of %d; one in parts of the other: %s", n, of, strings.Join(texts, "; "))
	}
}

// leastOf returns the least value and its name.
func leastOf(names []string, v []float64) (string, float64) {
	least := 0
	for i := range v {
		if v[i] < v[least] {
			least = i
		}
	}
	return names[least], v[least]
}

func closeBy(a, b float64) bool { return a <= b*(1+similarly) && b <= a*(1+similarly) }

// loadClaims are those about figure 1.
var loadClaims = []papers.Claim[*study]{
	{
		ID: "low-load", Of: "6.1",
		Says: "GreedyPM*/opt=min performs well under low load, but becomes poorer than most as the load gets larger " +
			"than 0.3.",
		Test: "mean degradation below that of most others of figure 1 at load 0.1, and above that of most at 0.5 " +
			"and more",
		Check: lowLoad,
	},
	{
		ID: "every-load", Of: "6.1",
		Says:  "GreedyPM*/per/opt=min/minvt=600 is the best at every load.",
		Test:  "the least mean degradation of figure 1 at each of nine loads",
		Check: everyLoad,
	},
	{
		ID: "load-factor", Of: "6.1",
		Says:  "It is about a factor of 3 away from the bound at low loads, and 7.5 at high ones.",
		Test:  "mean degradation at 0.1 within 2 to 4.5, at 0.9 within 5 to 11.25 (half as much again, either way)",
		Check: loadFactor,
	},
}

// atLoad returns the mean degradations of the algorithms of figure 1.
func (s *study) atLoad(load int) (names []string, v []float64, ok bool) {
	names = figureOne()
	for _, a := range names {
		f, ok := s.stat(fractional.Scaled, load, a, tablePeriod, degradation)
		if !ok {
			return nil, nil, false
		}
		v = append(v, f.avg)
	}
	return names, v, true
}

func lowLoad(s *study) papers.Finding {
	holds, texts := true, []string{}
	for _, load := range []int{1, 5, 6, 7, 8, 9} {
		names, v, ok := s.atLoad(load)
		if !ok {
			return papers.NotMeasured
		}
		own := v[slices.Index(names, purelyGreedy[2])]
		worse := papers.CountWhere(v, func(x float64) bool { return x < own })
		others := len(v) - 1
		holds = holds && (papers.Most(worse, others) == (load > 1))
		texts = append(texts, fmt.Sprintf("0.%d: %s, %d of %d are better", load, papers.Tenth(own), worse, others))
	}
	return papers.Found(holds, "%s", strings.Join(texts, "; "))
}

func everyLoad(s *study) papers.Finding {
	n, texts := 0, []string{}
	for load := 1; load < heavy; load++ {
		names, v, ok := s.atLoad(load)
		if !ok {
			return papers.NotMeasured
		}
		own := v[slices.Index(names, recommended)]
		name, least := leastOf(names, v)
		if own <= least {
			n++
			continue
		}
		texts = append(texts, fmt.Sprintf("0.%d: %s %s, itself %s", load, name, papers.Tenth(least), papers.Tenth(own)))
	}
	texts = append([]string{fmt.Sprintf("the best at %d of 9", n)}, texts...)
	return papers.Found(n == heavy-1, "%s", strings.Join(texts, "; "))
}

func loadFactor(s *study) papers.Finding {
	low, okLow := s.stat(fractional.Scaled, 1, recommended, tablePeriod, degradation)
	high, okHigh := s.stat(fractional.Scaled, heavy-1, recommended, tablePeriod, degradation)
	if !okLow || !okHigh {
		return papers.NotMeasured
	}
	return papers.Found(papers.Within(2, 4.5)(low.avg) && papers.Within(5, 11.25)(high.avg), "%s at 0.1, %s at 0.9",
		papers.Tenth(low.avg), papers.Tenth(high.avg))
}
