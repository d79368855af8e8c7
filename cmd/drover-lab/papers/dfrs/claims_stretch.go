package dfrs

import (
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// stretchClaims are those of section 6.1 about batch scheduling and the best.
var stretchClaims = []papers.Claim[*study]{
	{
		ID: "easy-fcfs", Of: "6.1",
		Says:  "EASY outperforms FCFS.",
		Test:  "mean degradation less on each set",
		Check: onSets(allSets, atMost(1, fractional.EASY, fractional.FCFS)),
	},
	{
		ID: "orders", Of: "6.1",
		Says:  "EASY and FCFS are outperformed by orders of magnitude.",
		Test:  "mean degradation of the default at most a hundredth of EASY's on each set",
		Check: onSets(allSets, atMost(1./orders, recommended, fractional.EASY)),
	},
	{
		ID: "factor-7", Of: "6.1",
		Says:  "The best algorithms are on average at most a factor of 7 away from the bound.",
		Test:  "mean degradation of the default at most 7 on each set",
		Check: onSets(allSets, bestWithin(7)),
	},
	{
		ID: "best-6.9", Of: "6.1",
		Says:  "The best algorithm's mean degradation is 6.9 on HPC2N.",
		Test:  "ours is not more, as the paper prints it",
		Check: onSets([]string{fractional.HPC2N}, bestWithin(6.95)),
	},
	{
		ID: "best-overall", Of: "6.1",
		Says:  "The four greedy algorithms with minvt=600 are the best overall, in standard deviation, too.",
		Test:  "of table 2, one of them has the least mean, and one the least standard deviation, on each set",
		Check: onSets(allSets, bestOverall),
	},
	{
		ID: "opt-min", Of: "6.1",
		Says: "On average opt=min is never worse and often slightly better than opt=avg.",
		Test: "table 5, pairs that differ in this alone: at most a tenth worse in each, not worse in more than half " +
			"(their own has some that are a little worse)",
		Check: optMin,
	},
	{
		ID: "minvt-minft", Of: "6.1",
		Says: "minvt is always better than minft.",
		Test: "table 5, pairs that differ in this alone, without /per and /stretch-per: not worse in nine of ten (in " +
			"the paper's own in 33 of 36)",
		Check: ofPairs("minft", "minvt", 9),
	},
	{
		ID: "minvt-600", Of: "6.1",
		Says:  "minvt is slightly better with 600 s than with 300 s.",
		Test:  "the same, not worse in eight of ten",
		Check: ofPairs("minvt=300", "minvt=600", 8),
	},
	{
		ID: "minvt-period", Of: "6.1",
		Says:  "For /per and /stretch-per minvt does not matter, as no period is shorter.",
		Test:  "table 5: the means of all their rows are within a thousandth",
		Check: minvtPeriod,
	},
}

// groupClaims compare the groups of greedy algorithms in table 2.
var groupClaims = []papers.Claim[*study]{
	{
		ID: "greedy-alone", Of: "6.1",
		Says: "On the synthetic traces greedy algorithms that never apply MCB8 are worse than those that do so " +
			"periodically.",
		Test:  "the least mean of the 3 is above the greatest of the 6 without minvt, on both sets",
		Check: onSets(synthetic, separate(averages)),
	},
	{
		ID: "greedy-alone-real", Of: "6.1",
		Says:  "On the real-world trace GreedyP* and GreedyPM* have the best means of these nine.",
		Test:  "the greater of the two is below the least of the other seven",
		Check: greedyAloneReal,
	},
	{
		ID: "greedy-alone-spread", Of: "6.1",
		Says: "For all traces their standard deviations and maxima are larger, by orders of magnitude.",
		Test: "the least of the 3 is above the greatest of the 6, for both, on each set (orders of magnitude are " +
			"not in the paper's own table for HPC2N)",
		Check: onSets(allSets, bothSeparate),
	},
	{
		ID: "preemption", Of: "6.1",
		Says: "GreedyP is better than Greedy: preemption pays.",
		Test: "mean degradation less in each of the 9 pairs",
		Check: pairsOf([]string{purelyGreedy[1], greedyPer[1], greedyStar[1]},
			[]string{purelyGreedy[0], greedyPer[0], greedyStar[0]}, less, papers.Every),
	},
	{
		ID: "migration", Of: "6.1",
		Says: "GreedyPM is not significantly better than GreedyP.",
		Test: "mean degradation not lower by more than a tenth in any of the 9 pairs",
		Check: pairsOf([]string{purelyGreedy[2], greedyPer[2], greedyStar[2]},
			[]string{purelyGreedy[1], greedyPer[1], greedyStar[1]}, func(a,
				b float64,
			) bool {
				return a >= b*(1-similarly)
			}, papers.Every),
	},
	{
		ID: "opportunistic", Of: "6.1",
		Says:  "Beside MCB8 once a period, opportunistic scheduling has a limited effect, generally a good one.",
		Test:  "of 9 pairs more than half are not worse, and none is off by more than a fifth",
		Check: opportunistic,
	},
	{
		ID: "minvt", Of: "6.1",
		Says:  "The four greedy algorithms with minvt=600 outperform all those without, on all sets.",
		Test:  "the greatest mean of the 4 is below the least of FCFS, EASY and the 9 others",
		Check: onSets(allSets, minvtGroup),
	},
	{
		ID: "opportunistic-minvt", Of: "6.1",
		Says:  "With minvt=600 opportunistic scheduling is always beneficial.",
		Test:  "mean degradation less in each of the 6 pairs",
		Check: pairsOf(greedyMinvt[2:], greedyMinvt[:2], less, papers.Every),
	},
	{
		ID: "migration-minvt", Of: "6.1",
		Says: "With minvt=600 GreedyP and GreedyPM are similar.",
		Test: "within a tenth in each of the 6 pairs",
		Check: pairsOf([]string{greedyMinvt[1], greedyMinvt[3]}, []string{greedyMinvt[0], greedyMinvt[2]}, closeBy,
			papers.Every),
	},
}

func less(a, b float64) bool { return a < b }

func bestWithin(most float64) func(*study, string) papers.Finding {
	return func(s *study, set string) papers.Finding {
		v, ok := s.at(set, recommended, degradation)
		if !ok {
			return papers.NotMeasured
		}
		return papers.Found(v.avg <= most, "%s", papers.Tenth(v.avg))
	}
}

func bestOverall(s *study, set string) papers.Finding {
	names := algorithmsOf(paperTable2)
	all, ok := s.figuresOf(set, names, degradation)
	if !ok {
		return papers.NotMeasured
	}
	mean, _ := leastOf(names, averages(all))
	spread, _ := leastOf(names, spreads(all))
	return papers.Found(slices.Contains(greedyMinvt, mean) && slices.Contains(greedyMinvt, spread), "%s, %s", mean,
		spread)
}

func withoutMinvt() []string { return slices.Concat(greedyPer, greedyStar) }

func separate(of func([]stat) []float64) func(*study, string) papers.Finding {
	return func(s *study, set string) papers.Finding {
		a, okA := s.figuresOf(set, purelyGreedy, degradation)
		b, okB := s.figuresOf(set, withoutMinvt(), degradation)
		if !okA || !okB {
			return papers.NotMeasured
		}
		v, w := of(a), of(b)
		return papers.Found(slices.Min(v) > slices.Max(w), "%s and %s", papers.FromTo(v, papers.Tenth),
			papers.FromTo(w, papers.Tenth))
	}
}

func bothSeparate(s *study, set string) papers.Finding {
	spread, worst := separate(spreads)(s, set), separate(worsts)(s, set)
	if spread.Verdict == papers.Open {
		return papers.NotMeasured
	}
	return papers.Found(spread.Verdict == papers.Holds && worst.Verdict == papers.Holds, "std. %s, max %s",
		spread.Measured, worst.Measured)
}

func greedyAloneReal(s *study) papers.Finding {
	two, okA := s.figuresOf(fractional.HPC2N, purelyGreedy[1:], degradation)
	others, okB := s.figuresOf(fractional.HPC2N, append(withoutMinvt(), purelyGreedy[0]), degradation)
	if !okA || !okB {
		return papers.NotMeasured
	}
	v, w := averages(two), averages(others)
	return papers.Found(slices.Max(v) < slices.Min(w), "%s and %s", papers.FromTo(v, papers.Tenth),
		papers.FromTo(w, papers.Tenth))
}

func opportunistic(s *study) papers.Finding {
	within := pairsOf(greedyStar, greedyPer, func(a, b float64) bool { return a <= 1.2*b && b <= 1.2*a },
		papers.Every)(s)
	better := pairsOf(greedyStar, greedyPer, func(a, b float64) bool { return a <= b }, papers.Most)(s)
	return papers.Finding{Measured: better.Measured, Verdict: both(within.Verdict, better.Verdict)}
}

func both(a, b papers.Verdict) papers.Verdict {
	if a == papers.Holds {
		return b
	}
	return a
}

func minvtGroup(s *study, set string) papers.Finding {
	a, okA := s.figuresOf(set, greedyMinvt, degradation)
	b, okB := s.figuresOf(set, slices.Concat(batchOnly, purelyGreedy, withoutMinvt()), degradation)
	if !okA || !okB {
		return papers.NotMeasured
	}
	v, w := averages(a), averages(b)
	return papers.Found(slices.Max(v) < slices.Min(w), "%s, the others from %s", papers.FromTo(v, papers.Tenth),
		papers.Tenth(slices.Min(w)))
}

// packedClaims are those about MCB8 on submission, /per and /stretch-per.
var packedClaims = []papers.Claim[*study]{
	{
		ID: "thrashing", Of: "6.1",
		Says: "Algorithms that apply MCB8 on each submission are more than an order of magnitude worse without " +
			"minvt=600.",
		Test:  "mean degradation on HPC2N at least ten times that with it, for each of the three",
		Check: thrashing,
	},
	{
		ID: "mcb8-good", Of: "6.1",
		Says:  "With it they perform very well, but are not among the best.",
		Test:  "mean degradation above the default's, and at most three times that, on each set",
		Check: onSets(allSets, packersGood),
	},
	{
		ID: "per", Of: "6.1",
		Says:  "/per is outperformed by the best greedy algorithm more than 6-fold.",
		Test:  "mean degradation at least six times the default's on each set",
		Check: onSets(allSets, atMost(1./6, recommended, onlyPer)),
	},
	{
		ID: "stretch-per", Of: "6.1",
		Says:  "/stretch-per performs on par with /per.",
		Test:  "mean degradation within a tenth on each set",
		Check: onSets(allSets, onPar),
	},
	{
		ID: "stretch-per-best", Of: "6.1",
		Says: "It is more than an order of magnitude worse than the best.",
		Test: "mean degradation at least ten times the default's on HPC2N (the paper's own are 9.0 and 6.6 times it " +
			"on the synthetic sets)",
		Check: onSets([]string{fractional.HPC2N}, atMost(1./tenfold, recommended, onlyStretch)),
	},
}

func thrashing(s *study) papers.Finding {
	holds, texts := true, []string{}
	for _, with := range packers {
		v, ok := s.figuresOf(fractional.HPC2N, []string{strings.TrimSuffix(with, "/minvt=600"), with}, degradation)
		if !ok {
			return papers.NotMeasured
		}
		holds = holds && v[0].avg >= tenfold*v[1].avg
		texts = append(texts, with+" "+papers.Tenth(v[1].avg)+", without "+papers.Tenth(v[0].avg))
	}
	return papers.Found(holds, "%s", strings.Join(texts, "; "))
}

func packersGood(s *study, set string) papers.Finding {
	best, okA := s.at(set, recommended, degradation)
	all, okB := s.figuresOf(set, packers, degradation)
	if !okA || !okB {
		return papers.NotMeasured
	}
	v := averages(all)
	return papers.Found(slices.Min(v) > best.avg && slices.Max(v) <= 3*best.avg, "%s, the default %s",
		papers.FromTo(v, papers.Tenth), papers.Tenth(best.avg))
}

func onPar(s *study, set string) papers.Finding {
	v, ok := s.figuresOf(set, []string{onlyStretch, onlyPer}, degradation)
	if !ok {
		return papers.NotMeasured
	}
	return papers.Found(closeBy(v[0].avg, v[1].avg), "%s and %s", papers.Tenth(v[0].avg), papers.Tenth(v[1].avg))
}

// optMin compares what differs in opt alone.
func optMin(s *study) papers.Finding {
	pairs := s.alikeBut(func(name string) (string, bool) {
		if strings.HasPrefix(name, "/stretch-per") || !strings.Contains(name, "opt=min") {
			return "", false
		}
		return strings.Replace(name, "opt=min", "opt=avg", 1), true
	})
	if len(pairs) == 0 {
		return papers.NotMeasured
	}
	notWorse := papers.CountWhere(pairs, func(p pair) bool { return p.a <= p.b })
	tolerable := papers.CountWhere(pairs, func(p pair) bool { return p.a <= p.b*(1+similarly) })
	return papers.Found(tolerable == len(pairs) && papers.Most(notWorse, len(pairs)),
		"not worse in %d of %d, worse by more than a tenth in %d", notWorse, len(pairs), len(pairs)-tolerable)
}

// ofPairs holds if the algorithms with one setting are not worse than those with the
// other in so many of ten.
func ofPairs(worse, better string, ofTen int) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		pairs := s.alikeBut(func(name string) (string, bool) {
			if strings.HasPrefix(name, "/") || !strings.Contains(name, better) {
				return "", false
			}
			return strings.Replace(name, better, worse, 1), true
		})
		if len(pairs) == 0 {
			return papers.NotMeasured
		}
		n := papers.CountWhere(pairs, func(p pair) bool { return p.a <= p.b })
		return papers.Found(10*n >= ofTen*len(pairs), "not worse in %d of %d", n, len(pairs))
	}
}

// alikeBut pairs the means on HPC2N of each algorithm of table 5 with another of it;
// none if one lacks.
func (s *study) alikeBut(other func(string) (string, bool)) []pair {
	var pairs []pair
	for _, name := range algorithmsOf(paperTable5) {
		than, ok := other(name)
		if !ok {
			continue
		}
		v, ok := s.figuresOf(fractional.HPC2N, []string{name, than}, degradation)
		if !ok {
			return nil
		}
		pairs = append(pairs, pair{a: v[0].avg, b: v[1].avg})
	}
	return pairs
}

func minvtPeriod(s *study) papers.Finding {
	holds, texts := true, []string{}
	for _, first := range []string{"/per/opt=min", "/per/opt=avg", "/stretch-per/opt=max", "/stretch-per/opt=avg"} {
		var v []float64
		for _, more := range []string{"", "/minft=300", "/minft=600", "/minvt=300", "/minvt=600"} {
			c, ok := s.at(fractional.HPC2N, first+more, degradation)
			if !ok {
				return papers.NotMeasured
			}
			v = append(v, c.avg)
		}
		holds = holds && slices.Max(v) <= slices.Min(v)*(1+alike)
		texts = append(texts, first+" "+papers.FromTo(v, papers.Tenth))
	}
	return papers.Found(holds, "%s", strings.Join(texts, "; "))
}

// pair is a figure of two algorithms on one instance.
type pair struct{ a, b float64 }
