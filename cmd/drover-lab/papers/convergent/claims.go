package convergent

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// Claims returns all claims, in the order of the paper.
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
		return papers.Found(n == len(arrivals), "at %d of %d inter-arrival times; %s", n, len(arrivals),
			strings.Join(texts, "; "))
	}
}

// lessLate holds if each of some has fewer late jobs than each of others, on the seeds
// that both have. It reports the worst of the former and the best of the latter.
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
		return papers.Found(holds, "%s %s, %s %s", some[worst], papers.Tenth(slices.Max(own)), others[best],
			papers.Tenth(slices.Min(theirs)))
	}
}

// allAre checks that, at each load, a measure of all the given algorithms holds.
func allAre(
	of []string, m measure, holds func(float64) bool, extreme func([]float64) float64, write func(float64) string,
) func(s *study, arrival int) papers.Finding {
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

// contentionClaims are those about figure 3.
var contentionClaims = []papers.Claim[*study]{
	{
		ID: "contention", Of: "fig. 3",
		Says:  "The shorter the inter-arrival time is, the higher the contention in the system is.",
		Test:  "the most jobs in the system, mean of the seeds under CS_ip, fall with each longer inter-arrival time",
		Check: contention,
	},
	{
		ID: "steady", Of: "fig. 3",
		Says: "With 12 units and more it remains almost constant through the simulation.",
		Test: "the mean workload of the last quarter of the submissions is at most 1.25 times that of the second, at " +
			"12, 16 and 20",
		Check: eachLoad(loadsFrom(12), steadyWork),
	},
}

func contention(s *study) papers.Finding {
	var v []float64
	var texts []string
	for _, a := range farm.Arrivals {
		w := s.workload(atLoads("CS_ip", a))
		if len(w) == 0 {
			return papers.NotMeasured
		}
		v = append(v, -slices.Max(w))
		texts = append(texts, fmt.Sprintf("%d: %.0f", a, slices.Max(w)))
	}
	return papers.Found(slices.IsSorted(v), "%s", strings.Join(texts, "; "))
}

// quarters returns the mean workload of the second and of the last quarter of the time
// in which jobs are submitted.
func (s *study) quarters(k key) (second, last float64, ok bool) {
	w := s.workload(k)
	n := s.submissions(k)
	if n > len(w) || n < 4 {
		return 0, 0, false
	}
	return papers.Mean(w[n/4 : n/2]), papers.Mean(w[3*n/4 : n]), true
}

// submissions returns how many samples there are until the last job is expected.
func (s *study) submissions(k key) int {
	c := s.cells[k]
	if c == nil {
		return 0
	}
	return int(float64(c.rows[0].Case.Jobs*c.rows[0].Arrival) / farm.SampleEvery.Seconds())
}

func steadyWork(s *study, arrival int) papers.Finding {
	second, last, ok := s.quarters(atLoads("CS_ip", arrival))
	if !ok {
		return papers.NotMeasured
	}
	return papers.Found(last <= almostSteady*second, "%.0f and %.0f", second, last)
}

// lateClaims are those about figure 4.
var lateClaims = []papers.Claim[*study]{
	{
		ID: "late-load", Of: "fig. 4",
		Says:  "The smaller the inter-arrival time is, the more jobs are late.",
		Test:  "late jobs of each of the eight fall with each longer inter-arrival time, but for less than a point",
		Check: lateLoad,
	},
	{
		ID: "late-satisfactory", Of: "fig. 4",
		Says: "Satisfactory results are obtained when the power is enough to keep contention almost constant.",
		Test: "CS_ip has at most 10% late at 12, 16 and 20",
		Check: eachLoad(loadsFrom(12), allAre([]string{"CS_ip"}, lateJobs, func(v float64) bool {
			return v <= fineLate
		},
			maxOf, papers.Tenth)),
	},
	{
		ID: "late-backfilling", Of: "fig. 4",
		Says: "The three backfilling algorithms are worse than all the CS schedulers.",
		Test: "at each load each CS version has fewer late jobs than each of the three; the worst and the best are " +
			"shown",
		Check: eachLoad(farm.Arrivals, lessLate(csAll, backfills)),
	},
	{
		ID: "late-edf", Of: "fig. 4",
		Says:  "EDF is worse than all the CS schedulers.",
		Test:  "at each load each CS version has fewer late jobs than EDF; the worst version is shown",
		Check: eachLoad(farm.Arrivals, lessLate(csAll, []string{"EDF"})),
	},
	{
		ID: "late-incremental", Of: "fig. 4",
		Says:  "CS_i_lp and CS_ni_lp obtain equal or very close results: being incremental costs no quality.",
		Test:  "at each load CS_ip and CS_nip, and CS_inp and CS_ninp, differ by at most 2 points of late jobs",
		Check: eachLoad(farm.Arrivals, lateIncremental("")),
	},
}

func lateLoad(s *study) papers.Finding {
	n, texts := 0, []string{}
	for _, a := range slices.Concat(csAll, peersOfCS) {
		rises := ""
		before := math.Inf(1)
		for _, arrival := range farm.Arrivals {
			v, ok := s.of(atLoads(a, arrival), lateJobs)
			if !ok {
				return papers.NotMeasured
			}
			if v > before+1 {
				rises = fmt.Sprintf("%s rises to %s at %d", a, papers.Tenth(v), arrival)
			}
			before = v
		}
		if rises == "" {
			n++
			continue
		}
		texts = append(texts, rises)
	}
	return papers.Found(n == len(csAll)+len(peersOfCS), "%s", strings.Join(append([]string{fmt.Sprintf("%d of 8", n)},
		texts...), "; "))
}

func lateIncremental(settings string) func(s *study, arrival int) papers.Finding {
	return func(s *study, arrival int) papers.Finding {
		x, y, ok := s.both(atLoads("CS_ip"+settings, arrival), atLoads("CS_nip"+settings, arrival), lateJobs)
		v, w, okN := s.both(atLoads("CS_inp"+settings, arrival), atLoads("CS_ninp"+settings, arrival), lateJobs)
		if !ok || !okN {
			return papers.NotMeasured
		}
		return papers.Found(math.Abs(x-y) <= closeLate && math.Abs(v-w) <= closeLate, "%s and %s, %s and %s",
			papers.Tenth(x), papers.Tenth(y), papers.Tenth(v), papers.Tenth(w))
	}
}

// usageClaims are those about figures 5 and 6.
var usageClaims = []papers.Claim[*study]{
	{
		ID: "slowdown", Of: "fig. 5",
		Says: "From 10 units on jobs without a deadline have a slowdown equal or very close to 1 under a CS scheduler.",
		Test: "mean at most 1.1 under each of the four, at 10, 12, 16 and 20; the worst is shown",
		Check: eachLoad(loadsFrom(10), allAre(csAll, undatedSlow, func(v float64) bool { return v <= closeToOne },
			maxOf,
			papers.Hundredth)),
	},
	{
		ID: "busy", Of: "fig. 6",
		Says: "The CS algorithms keep all machines always busy.",
		Test: "machine usage of at least 95% under each of the four at each load; the least is shown",
		Check: eachLoad(farm.Arrivals, allAre(csAll, machinesBusy, func(v float64) bool { return v >= alwaysBusy },
			minOf,
			papers.Tenth)),
	},
	{
		ID: "busiest", Of: "fig. 6",
		Says: "The CS algorithms use the machines better than their peers (our reading of the above).",
		Test: "at each load the worst of the four has a machine usage above that of each peer, or 1 point less at " +
			"most",
		Check: eachLoad(farm.Arrivals, busiest),
	},
}

func busiest(s *study, arrival int) papers.Finding {
	own, other := math.Inf(1), 0.
	for _, a := range csAll {
		for _, b := range peersOfCS {
			x, y, ok := s.both(atLoads(a, arrival), atLoads(b, arrival), machinesBusy)
			if !ok {
				return papers.NotMeasured
			}
			own, other = min(own, x), max(other, y)
		}
	}
	return papers.Found(own >= other-1, "%s, the best peer %s", papers.Tenth(own), papers.Tenth(other))
}
