package convergent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// targets are what Drover was to reach, beside what the paper says.
var targets = []papers.Claim[*study]{
	{
		ID: "fewer-late", Of: "late jobs",
		Says: "Fewer late jobs than every peer of the paper, at each of its loads.",
		Test: "CS_ip preset=deadlines against BF-easy, BF-rm, BF-unrm and EDF on the same seeds; the best peer is " +
			"shown",
		Check: eachLoad(farm.Arrivals, lessLate([]string{"CS_ip" + withPreset}, peersOfCS)),
	},
	{
		ID: "fewer-late-strong", Of: "late jobs",
		Says: "Fewer late jobs than the peers in forms that the paper does not have, too.",
		Test: "the same against BF-rm preset=deadlines and EDF anew=true, which moves jobs at will",
		Check: eachLoad(farm.Arrivals, lessLate([]string{"CS_ip" + withPreset},
			[]string{"BF-rm" + withPreset, "EDF anew=true"})),
	},
	{
		ID: "fewer-late-resident", Of: "late jobs",
		Says: "Without preemption fewer late jobs than all backfilling, which does not preempt either.",
		Test: "CS_inp and CS_ninp with preset=deadlines against BF-easy, BF-rm, BF-unrm and BF-rm preset=deadlines",
		Check: eachLoad(farm.Arrivals, lessLate([]string{"CS_inp" + withPreset, "CS_ninp" + withPreset},
			append(slices.Clone(backfills), "BF-rm"+withPreset))),
	},
	{
		ID: "late-incremental-preset", Of: "late jobs",
		Says:  "With the preset being incremental costs no quality.",
		Test:  "as `late-incremental`, with preset=deadlines",
		Check: eachLoad(farm.Arrivals, lateIncremental(withPreset)),
	},
	{
		ID: "knapsack-value", Of: "knapsack",
		Says:  "The greedy's value within 3% of branch and bound's on average, at under 3% of its time.",
		Test:  "value of the chosen jobs, mean of all instants of all ratios, and time",
		Check: knapsackValue,
	},
	{
		ID: "plan-150", Of: "time",
		Says:  "A plan of 150 machines and 1,500 jobs in under 5 ms, incremental.",
		Test:  "median plan of CS_ip with so many jobs in the system",
		Check: planUnder(150, 1500, 5),
	},
	{
		ID: "plan-1000", Of: "time",
		Says:  "A plan of 1,000 machines and 10,000 jobs in under 250 ms.",
		Test:  "median plan of CS_ip with so many jobs in the system",
		Check: planUnder(1000, 10_000, 250),
	},
}

// meant is how the paper's figure 4 comes out if two lines of its text are misprints: see
// docs/reproduction/convergent.md.
const meant = " avoid=true"

var (
	csMeant    = []string{"CS_ip" + meant, "CS_inp" + meant, "CS_nip" + meant, "CS_ninp" + meant}
	peersMeant = []string{"BF-easy", "BF-rm" + meant, "BF-unrm" + meant}
)

// meantClaims are the claims about figure 4 under that reading.
var meantClaims = []papers.Claim[*study]{
	{
		ID: "meant-satisfactory", Of: "fig. 4",
		Says: "`late-satisfactory`, with avoid=true.",
		Test: "CS_ip has at most 10% late at 12, 16 and 20",
		Check: eachLoad(loadsFrom(12), allAre(csMeant[:1], lateJobs, func(v float64) bool { return v <= fineLate },
			maxOf,
			papers.Tenth)),
	},
	{
		ID: "meant-backfilling", Of: "fig. 4",
		Says: "`late-backfilling`, with avoid=true for those that have priorities from the heuristics.",
		Test: "at each load each CS version has fewer late jobs than each of the three; the worst and the best are " +
			"shown",
		Check: eachLoad(farm.Arrivals, lessLate(csMeant, peersMeant)),
	},
	{
		ID: "meant-edf", Of: "fig. 4",
		Says:  "`late-edf`, with avoid=true and order=latest.",
		Test:  "at each load each CS version has fewer late jobs than EDF; the worst version is shown",
		Check: eachLoad(farm.Arrivals, lessLate(csMeant, []string{"EDF order=latest"})),
	},
	{
		ID: "meant-incremental", Of: "fig. 4",
		Says:  "`late-incremental`, with avoid=true.",
		Test:  "at each load CS_ip and CS_nip, and CS_inp and CS_ninp, differ by at most 2 points of late jobs",
		Check: eachLoad(farm.Arrivals, lateIncremental(meant)),
	},
}

func knapsackValue(s *study) papers.Finding {
	lines, ok := s.knapsackLines()
	if !ok {
		return papers.NotMeasured
	}
	calls, value, greedy, exact := 0., 0., 0., 0.
	for i := range lines {
		l, n := &lines[i], float64(lines[i].calls)
		calls += n
		value += n * l.value
		greedy += n * l.greedy.time
		exact += n * l.exact.time
	}
	value /= calls
	return papers.Found(value >= 0.97 && greedy <= 0.03*exact, "%s of the value in %s of the time",
		papers.Percent(value),
		papers.Percent(greedy/exact))
}

// planUnder holds if a median plan takes less than so many milliseconds.
func planUnder(machines, jobs int, most float64) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		k := growthKey("CS_ip", machines, jobs)
		median, ok := s.took(k, medianPlan)
		if !ok {
			return papers.NotMeasured
		}
		longest, _ := s.took(k, longestPlan)
		first, _ := s.took(k, firstPlan)
		text := []string{
			fmt.Sprintf("%s ms", papers.Ratio(median)), fmt.Sprintf("at most %s", papers.Ratio(longest)),
			fmt.Sprintf("the first, of nothing, %s", papers.Ratio(first)),
		}
		return papers.Found(median < most, "%s", strings.Join(text, "; "))
	}
}
