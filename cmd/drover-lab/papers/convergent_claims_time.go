package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/farm"
)

// knapsackClaims are those about table 1.
var knapsackClaims = []ConvergentClaim{
	{
		ID: "knapsack-near", Of: "table 1",
		Says:  "The greedy's solutions are on average 3% distant from branch and bound's.",
		Test:  "license usage, mean of the four ratios: at most 3.5% less, as the paper's own table has 3.4%",
		check: knapsackNear,
	},
	{
		ID: "knapsack-time", Of: "table 1",
		Says:  "It saves 97% of the CPU time.",
		Test:  "the sum of its times over the four ratios is at most 3% of branch and bound's",
		check: knapsackTime,
	},
	{
		ID: "knapsack-ratio", Of: "table 1",
		Says:  "The smaller the contention is (the higher the license ratio), the closer it is to the optimum.",
		Test:  "its distance in license usage falls with each higher ratio",
		check: knapsackRatio,
	},
}

func knapsackNear(s *farmStudy) finding {
	lines, ok := s.knapsackLines()
	if !ok {
		return open
	}
	d := each(lines, func(l knapsackLine) float64 { return l.distance() })
	return found(mean(d) <= threePercent, "%s (%s)", percent(mean(d)), fromTo(d, percent))
}

func knapsackTime(s *farmStudy) finding {
	lines, ok := s.knapsackLines()
	if !ok {
		return open
	}
	greedy := mean(each(lines, func(l knapsackLine) float64 { return l.greedy.time }))
	exact := mean(each(lines, func(l knapsackLine) float64 { return l.exact.time }))
	return found(greedy <= 0.03*exact, "%s: %s and %s ms", percent(greedy/exact), ratio(greedy), ratio(exact))
}

func knapsackRatio(s *farmStudy) finding {
	lines, ok := s.knapsackLines()
	if !ok {
		return open
	}
	d := each(lines, func(l knapsackLine) float64 { return -l.distance() })
	return found(slices.IsSorted(d), "%s", strings.Join(texts(d, func(v float64) string { return percent(-v) }), ", "))
}

func texts(v []float64, write func(float64) string) []string {
	var all []string
	for _, x := range v {
		all = append(all, write(x))
	}
	return all
}

// timeClaims are those about figures 7 and 8.
var timeClaims = []ConvergentClaim{
	{
		ID: "time-preemption", Of: "fig. 7",
		Says:  "The versions with preemption take more time.",
		Test:  "mean time of a plan, mean of the loads: CS_ip above CS_inp, CS_nip above CS_ninp",
		check: slower([]string{"CS_ip", "CS_inp"}, []string{"CS_nip", "CS_ninp"}),
	},
	{
		ID: "time-incremental", Of: "fig. 7",
		Says:  "The incremental versions take less time than the others.",
		Test:  "likewise: CS_nip above CS_ip, CS_ninp above CS_inp",
		check: slower([]string{"CS_nip", "CS_ip"}, []string{"CS_ninp", "CS_inp"}),
	},
	{
		ID: "scalability", Of: "fig. 8",
		Says:  "The incremental version obtains very good scalability; the other one does not.",
		Test:  "150 machines, median plan: CS_ip takes less than CS_nip from 1,000 jobs on, and grows from the fewest to the most jobs by no more than these",
		check: scalability,
	},
}

// planTime is the mean over the loads of a plan's mean time, in milliseconds.
func (s *farmStudy) planTime(algorithm string) (float64, bool) {
	var v []float64
	for _, a := range farm.Arrivals {
		x, ok := s.took(atLoads(algorithm, a), meanPlan)
		if !ok {
			return 0, false
		}
		v = append(v, x)
	}
	return mean(v), true
}

// slower holds if the first of each pair takes more time.
func slower(pairs ...[]string) func(*farmStudy) finding {
	return func(s *farmStudy) finding {
		holds, texts := true, []string{}
		for _, p := range pairs {
			x, okX := s.planTime(p[0])
			y, okY := s.planTime(p[1])
			if !okX || !okY {
				return open
			}
			holds = holds && x > y
			texts = append(texts, fmt.Sprintf("%s %s ms, %s %s ms", p[0], ratio(x), p[1], ratio(y)))
		}
		return found(holds, "%s", strings.Join(texts, "; "))
	}
}

func growthKey(algorithm string, machines, jobs int) farmKey {
	return farmKey{set: farm.Growth, algorithm: algorithm, machines: machines, jobs: jobs, reading: farm.Percent}
}

// sizes returns the numbers of jobs that an algorithm was run with on a farm, rising.
func (s *farmStudy) sizes(algorithm string, machines int) []int {
	var all []int
	for k := range s.cells {
		if k.set == farm.Growth && k.algorithm == algorithm && k.machines == machines {
			all = append(all, k.jobs)
		}
	}
	slices.Sort(all)
	return all
}

func scalability(s *farmStudy) finding {
	const machines = 150
	sizes := s.sizes("CS_ip", machines)
	if len(sizes) < 2 {
		return open
	}
	holds := true
	first, _ := s.took(growthKey("CS_ip", machines, sizes[0]), medianPlan)
	last := 0.
	var text []string
	for _, n := range sizes {
		x, _ := s.took(growthKey("CS_ip", machines, n), medianPlan)
		y, ok := s.took(growthKey("CS_nip", machines, n), medianPlan)
		if !ok {
			return open
		}
		holds = holds && (n < 1000 || x < y)
		last = x
		text = append(text, fmt.Sprintf("%d jobs: %s and %s ms", n, ratio(x), ratio(y)))
	}
	jobs := float64(sizes[len(sizes)-1]) / float64(sizes[0])
	return found(holds && last <= jobs*first, "%s; by %s of %.0f", strings.Join(text, "; "), tenth(last/first), jobs)
}
