package convergent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// knapsackClaims are those about table 1.
var knapsackClaims = []papers.Claim[*study]{
	{
		ID: "knapsack-near", Of: "table 1",
		Says:  "The greedy's solutions are on average 3% distant from branch and bound's.",
		Test:  "license usage, mean of the four ratios: at most 3.5% less, as the paper's own table has 3.4%",
		Check: knapsackNear,
	},
	{
		ID: "knapsack-time", Of: "table 1",
		Says:  "It saves 97% of the CPU time.",
		Test:  "the sum of its times over the four ratios is at most 3% of branch and bound's",
		Check: knapsackTime,
	},
	{
		ID: "knapsack-ratio", Of: "table 1",
		Says:  "The smaller the contention is (the higher the license ratio), the closer it is to the optimum.",
		Test:  "its distance in license usage falls with each higher ratio",
		Check: knapsackRatio,
	},
}

func knapsackNear(s *study) papers.Finding {
	lines, ok := s.knapsackLines()
	if !ok {
		return papers.NotMeasured
	}
	d := papers.Each(lines, func(l knapsackLine) float64 { return l.distance() })
	return papers.Found(papers.Mean(d) <= threePercent, "%s (%s)", papers.Percent(papers.Mean(d)),
		papers.FromTo(d, papers.Percent))
}

func knapsackTime(s *study) papers.Finding {
	lines, ok := s.knapsackLines()
	if !ok {
		return papers.NotMeasured
	}
	greedy := papers.Mean(papers.Each(lines, func(l knapsackLine) float64 { return l.greedy.time }))
	exact := papers.Mean(papers.Each(lines, func(l knapsackLine) float64 { return l.exact.time }))
	return papers.Found(greedy <= 0.03*exact, "%s: %s and %s ms", papers.Percent(greedy/exact), papers.Ratio(greedy),
		papers.Ratio(exact))
}

func knapsackRatio(s *study) papers.Finding {
	lines, ok := s.knapsackLines()
	if !ok {
		return papers.NotMeasured
	}
	d := papers.Each(lines, func(l knapsackLine) float64 { return -l.distance() })
	return papers.Found(slices.IsSorted(d), "%s",
		strings.Join(texts(d, func(v float64) string { return papers.Percent(-v) }), ", "))
}

func texts(v []float64, write func(float64) string) []string {
	var all []string
	for _, x := range v {
		all = append(all, write(x))
	}
	return all
}

// timeClaims are those about figures 7 and 8.
var timeClaims = []papers.Claim[*study]{
	{
		ID: "time-preemption", Of: "fig. 7",
		Says:  "The versions with preemption take more time.",
		Test:  "mean time of a plan, mean of the loads: CS_ip above CS_inp, CS_nip above CS_ninp",
		Check: slower([]string{"CS_ip", "CS_inp"}, []string{"CS_nip", "CS_ninp"}),
	},
	{
		ID: "time-incremental", Of: "fig. 7",
		Says:  "The incremental versions take less time than the others.",
		Test:  "the same: CS_nip above CS_ip, CS_ninp above CS_inp",
		Check: slower([]string{"CS_nip", "CS_ip"}, []string{"CS_ninp", "CS_inp"}),
	},
	{
		ID: "scalability", Of: "fig. 8",
		Says: "The incremental version obtains very good scalability; the other one does not.",
		Test: "150 machines, median plan: CS_ip takes less than CS_nip from 1,000 jobs on, and grows from the " +
			"fewest to the most jobs by no more than these",
		Check: scalability,
	},
}

// planTime is the mean over the loads of a plan's mean time, in milliseconds.
func (s *study) planTime(algorithm string) (float64, bool) {
	var v []float64
	for _, a := range farm.Arrivals {
		x, ok := s.took(atLoads(algorithm, a), meanPlan)
		if !ok {
			return 0, false
		}
		v = append(v, x)
	}
	return papers.Mean(v), true
}

// slower holds if the first of each pair takes more time.
func slower(pairs ...[]string) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		holds, texts := true, []string{}
		for _, p := range pairs {
			x, okX := s.planTime(p[0])
			y, okY := s.planTime(p[1])
			if !okX || !okY {
				return papers.NotMeasured
			}
			holds = holds && x > y
			texts = append(texts, fmt.Sprintf("%s %s ms, %s %s ms", p[0], papers.Ratio(x), p[1], papers.Ratio(y)))
		}
		return papers.Found(holds, "%s", strings.Join(texts, "; "))
	}
}

func growthKey(algorithm string, machines, jobs int) key {
	return key{set: farm.Growth, algorithm: algorithm, machines: machines, jobs: jobs, reading: farm.Percent}
}

// sizes returns the numbers of jobs that an algorithm was run with on a farm, rising.
func (s *study) sizes(algorithm string, machines int) []int {
	var all []int
	for k := range s.cells {
		if k.set == farm.Growth && k.algorithm == algorithm && k.machines == machines {
			all = append(all, k.jobs)
		}
	}
	slices.Sort(all)
	return all
}

func scalability(s *study) papers.Finding {
	const machines = 150
	sizes := s.sizes("CS_ip", machines)
	if len(sizes) < 2 {
		return papers.NotMeasured
	}
	holds := true
	first, _ := s.took(growthKey("CS_ip", machines, sizes[0]), medianPlan)
	last := 0.
	var text []string
	for _, n := range sizes {
		x, _ := s.took(growthKey("CS_ip", machines, n), medianPlan)
		y, ok := s.took(growthKey("CS_nip", machines, n), medianPlan)
		if !ok {
			return papers.NotMeasured
		}
		holds = holds && (n < 1000 || x < y)
		last = x
		text = append(text, fmt.Sprintf("%d jobs: %s and %s ms", n, papers.Ratio(x), papers.Ratio(y)))
	}
	jobs := float64(sizes[len(sizes)-1]) / float64(sizes[0])
	return papers.Found(holds && last <= jobs*first, "%s; by %s of %.0f", strings.Join(text, "; "),
		papers.Tenth(last/first), jobs)
}
