package convergent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// ConvergentClaims returns all claims, in the order of the paper.
func Claims() []papers.Claim[*study] {
	return slices.Concat(knapsackClaims, contentionClaims, lateClaims, usageClaims, timeClaims)
}

// Words that the paper uses, as numbers, fixed before most of the runs were made.
const (
	closeLate    = 2.0  // "equal or very close": points of late jobs
	closeToOne   = 1.1  // "equal or very close to 1"
	alwaysBusy   = 95.0 // "always busy": percent
	fineLate     = 10.0 // "satisfactory": percent
	almostSteady = 1.25 // "almost constant": the last quarter over the second
	threePercent = 0.035
)

// The groups of algorithms.
var (
	csAll      = []string{"CS_ip", "CS_inp", "CS_nip", "CS_ninp"}
	backfills  = []string{"BF-easy", "BF-rm", "BF-unrm"}
	peersOfCS  = append(slices.Clone(backfills), "EDF")
	withPreset = " preset=deadlines"
)

// eachLoad holds if a check does at each of some inter-arrival times; it is open if it
// is at one.
func eachLoad(arrivals []int, check func(s *study, arrival int) papers.Finding) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		n, texts := 0, []string{}
		for _, a := range arrivals {
			f := check(s, a)
			if f.Verdict == papers.Open {
				return papers.NotMeasured
			}
			if f.Verdict == papers.Holds {
				n++
			}
			texts = append(texts, fmt.Sprintf("%d: %s", a, f.Measured))
		}
		return papers.Found(n == len(arrivals), "at %d of %d inter-arrival times; %s", n, len(arrivals), strings.Join(texts, "; "))
	}
}

// lessLate holds if each of some has fewer late jobs than each of others, on the seeds
// that both have. It tells the worst of the former and the best of the latter.
func lessLate(some, others []string) func(s *study, arrival int) papers.Finding {
	return func(s *study, arrival int) papers.Finding {
		holds := true
		var own, theirs []float64
		for _, a := range some {
			for _, b := range others {
				x, y, ok := s.both(atLoads(a, arrival), atLoads(b, arrival), lateJobs)
				if !ok {
					return papers.NotMeasured
				}
				holds = holds && x < y
				own, theirs = append(own, x), append(theirs, y)
			}
		}
		// own has each of some as often as there are others, in their order.
		worst := slices.Index(own, slices.Max(own)) / len(others)
		best := slices.Index(theirs, slices.Min(theirs)) % len(others)
		return papers.Found(holds, "%s %s, %s %s", some[worst], papers.Tenth(slices.Max(own)), others[best], papers.Tenth(slices.Min(theirs)))
	}
}

// within each load all of some figures are as they should be.
func allAre(of []string, m measure, holds func(float64) bool, extreme func([]float64) float64, write func(float64) string) func(s *study, arrival int) papers.Finding {
	return func(s *study, arrival int) papers.Finding {
		var v []float64
		for _, a := range of {
			x, ok := s.of(atLoads(a, arrival), m)
			if !ok {
				return papers.NotMeasured
			}
			v = append(v, x)
		}
		worst := extreme(v)
		return papers.Found(papers.CountWhere(v, holds) == len(v), "%s %s", of[slices.Index(v, worst)], write(worst))
	}
}

func minOf(v []float64) float64 { return slices.Min(v) }
func maxOf(v []float64) float64 { return slices.Max(v) }

// loadsFrom returns the paper's inter-arrival times from one on.
func loadsFrom(least int) []int {
	var all []int
	for _, a := range farm.Arrivals {
		if a >= least {
			all = append(all, a)
		}
	}
	return all
}
