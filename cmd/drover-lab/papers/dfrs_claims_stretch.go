package papers

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
)

// stretchClaims are those of section 6.1 about batch scheduling and the best.
var stretchClaims = []DFRSClaim{
	{
		ID: "easy-fcfs", Section: "6.1",
		Says:  "EASY outperforms FCFS.",
		Test:  "mean degradation less on each set",
		check: onSets(allSets, atMost(1, fractional.EASY, fractional.FCFS)),
	},
	{
		ID: "orders", Section: "6.1",
		Says:  "EASY and FCFS are outperformed by orders of magnitude.",
		Test:  "mean degradation of the default at most a hundredth of EASY's on each set",
		check: onSets(allSets, atMost(1./orders, dfrsDefault, fractional.EASY)),
	},
	{
		ID: "factor-7", Section: "6.1",
		Says:  "The best algorithms are on average at most a factor of 7 away from the bound.",
		Test:  "mean degradation of the default at most 7 on each set",
		check: onSets(allSets, bestWithin(7)),
	},
	{
		ID: "best-6.9", Section: "6.1",
		Says:  "The best algorithm's mean degradation is 6.9 on HPC2N.",
		Test:  "ours is not more, as the paper prints it",
		check: onSets([]string{fractional.HPC2N}, bestWithin(6.95)),
	},
	{
		ID: "best-overall", Section: "6.1",
		Says:  "The four greedy algorithms with minvt=600 are the best overall, in standard deviation, too.",
		Test:  "of table 2, one of them has the least mean, and one the least standard deviation, on each set",
		check: onSets(allSets, bestOverall),
	},
	{
		ID: "opt-min", Section: "6.1",
		Says:  "On average opt=min is never worse and often slightly better than opt=avg.",
		Test:  "table 5, pairs that differ in this alone: at most a tenth worse in each, not worse in more than half (their own has some that are a little worse)",
		check: optMin,
	},
	{
		ID: "minvt-minft", Section: "6.1",
		Says:  "minvt is always better than minft.",
		Test:  "table 5, pairs that differ in this alone, without /per and /stretch-per: not worse in nine of ten (in the paper's own in 33 of 36)",
		check: ofPairs("minft", "minvt", 9),
	},
	{
		ID: "minvt-600", Section: "6.1",
		Says:  "minvt is slightly better with 600 s than with 300 s.",
		Test:  "likewise, not worse in eight of ten",
		check: ofPairs("minvt=300", "minvt=600", 8),
	},
	{
		ID: "minvt-period", Section: "6.1",
		Says:  "For /per and /stretch-per minvt does not matter, as no period is shorter.",
		Test:  "table 5: the means of all their rows are within a thousandth",
		check: minvtPeriod,
	},
}

// groupClaims compare the groups of greedy algorithms in table 2.
var groupClaims = []DFRSClaim{
	{
		ID: "greedy-alone", Section: "6.1",
		Says:  "On the synthetic traces greedy algorithms that never apply MCB8 are worse than those that do so periodically.",
		Test:  "the least mean of the 3 is above the greatest of the 6 without minvt, on both sets",
		check: onSets(synthetic, separate(averages)),
	},
	{
		ID: "greedy-alone-real", Section: "6.1",
		Says:  "On the real-world trace GreedyP* and GreedyPM* have the best means of these nine.",
		Test:  "the greater of the two is below the least of the other seven",
		check: greedyAloneReal,
	},
	{
		ID: "greedy-alone-spread", Section: "6.1",
		Says:  "For all traces their standard deviations and maxima are larger, by orders of magnitude.",
		Test:  "the least of the 3 is above the greatest of the 6, for both, on each set (orders of magnitude are not in the paper's own table for HPC2N)",
		check: onSets(allSets, bothSeparate),
	},
	{
		ID: "preemption", Section: "6.1",
		Says:  "GreedyP is better than Greedy: preemption pays.",
		Test:  "mean degradation less in each of the 9 pairs",
		check: pairsOf([]string{purelyGreedy[1], greedyPer[1], greedyStar[1]}, []string{purelyGreedy[0], greedyPer[0], greedyStar[0]}, less, every),
	},
	{
		ID: "migration", Section: "6.1",
		Says:  "GreedyPM is not significantly better than GreedyP.",
		Test:  "mean degradation not lower by more than a tenth in any of the 9 pairs",
		check: pairsOf([]string{purelyGreedy[2], greedyPer[2], greedyStar[2]}, []string{purelyGreedy[1], greedyPer[1], greedyStar[1]}, func(a, b float64) bool { return a >= b*(1-alikeDFRS) }, every),
	},
	{
		ID: "opportunistic", Section: "6.1",
		Says:  "Beside MCB8 once a period, opportunistic scheduling has a limited effect, generally a good one.",
		Test:  "of 9 pairs more than half are not worse, and none is off by more than a fifth",
		check: opportunistic,
	},
	{
		ID: "minvt", Section: "6.1",
		Says:  "The four greedy algorithms with minvt=600 outperform all those without, on all sets.",
		Test:  "the greatest mean of the 4 is below the least of FCFS, EASY and the 9 others",
		check: onSets(allSets, minvtGroup),
	},
	{
		ID: "opportunistic-minvt", Section: "6.1",
		Says:  "With minvt=600 opportunistic scheduling is always beneficial.",
		Test:  "mean degradation less in each of the 6 pairs",
		check: pairsOf(greedyMinvt[2:], greedyMinvt[:2], less, every),
	},
	{
		ID: "migration-minvt", Section: "6.1",
		Says:  "With minvt=600 GreedyP and GreedyPM are similar.",
		Test:  "within a tenth in each of the 6 pairs",
		check: pairsOf([]string{greedyMinvt[1], greedyMinvt[3]}, []string{greedyMinvt[0], greedyMinvt[2]}, closeBy, every),
	},
}

func less(a, b float64) bool { return a < b }

func bestWithin(most float64) func(*dfrsStudy, string) finding {
	return func(s *dfrsStudy, set string) finding {
		v, ok := s.at(set, dfrsDefault, degradation)
		if !ok {
			return open
		}
		return found(v.avg <= most, "%s", tenth(v.avg))
	}
}

func bestOverall(s *dfrsStudy, set string) finding {
	names := algorithmsOf(paperTable2)
	all, ok := s.figuresOf(set, names, degradation)
	if !ok {
		return open
	}
	mean, _ := leastOf(names, averages(all))
	spread, _ := leastOf(names, spreads(all))
	return found(slices.Contains(greedyMinvt, mean) && slices.Contains(greedyMinvt, spread), "%s, %s", mean, spread)
}

func withoutMinvt() []string { return slices.Concat(greedyPer, greedyStar) }

func separate(of func([]stat) []float64) func(*dfrsStudy, string) finding {
	return func(s *dfrsStudy, set string) finding {
		a, okA := s.figuresOf(set, purelyGreedy, degradation)
		b, okB := s.figuresOf(set, withoutMinvt(), degradation)
		if !okA || !okB {
			return open
		}
		v, w := of(a), of(b)
		return found(slices.Min(v) > slices.Max(w), "%s and %s", fromTo(v, tenth), fromTo(w, tenth))
	}
}

func bothSeparate(s *dfrsStudy, set string) finding {
	spread, worst := separate(spreads)(s, set), separate(worsts)(s, set)
	if spread.verdict == Open {
		return open
	}
	return found(spread.verdict == Holds && worst.verdict == Holds, "std. %s, max %s", spread.measured, worst.measured)
}

func greedyAloneReal(s *dfrsStudy) finding {
	two, okA := s.figuresOf(fractional.HPC2N, purelyGreedy[1:], degradation)
	others, okB := s.figuresOf(fractional.HPC2N, append(withoutMinvt(), purelyGreedy[0]), degradation)
	if !okA || !okB {
		return open
	}
	v, w := averages(two), averages(others)
	return found(slices.Max(v) < slices.Min(w), "%s and %s", fromTo(v, tenth), fromTo(w, tenth))
}

func opportunistic(s *dfrsStudy) finding {
	within := pairsOf(greedyStar, greedyPer, func(a, b float64) bool { return a <= 1.2*b && b <= 1.2*a }, every)(s)
	better := pairsOf(greedyStar, greedyPer, func(a, b float64) bool { return a <= b }, most)(s)
	return finding{better.measured, both(within.verdict, better.verdict)}
}

func both(a, b Verdict) Verdict {
	if a == Holds {
		return b
	}
	return a
}

func minvtGroup(s *dfrsStudy, set string) finding {
	a, okA := s.figuresOf(set, greedyMinvt, degradation)
	b, okB := s.figuresOf(set, slices.Concat(batchOnly, purelyGreedy, withoutMinvt()), degradation)
	if !okA || !okB {
		return open
	}
	v, w := averages(a), averages(b)
	return found(slices.Max(v) < slices.Min(w), "%s, the others from %s", fromTo(v, tenth), tenth(slices.Min(w)))
}
