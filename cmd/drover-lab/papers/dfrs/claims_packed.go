package dfrs

import (
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// packedClaims are those about MCB8 on submission, /per and /stretch-per.
var packedClaims = []papers.Claim[*study]{
	{
		ID: "thrashing", Of: "6.1",
		Says:  "Algorithms that apply MCB8 on each submission are more than an order of magnitude worse without minvt=600.",
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
		Says:  "It is more than an order of magnitude worse than the best.",
		Test:  "mean degradation at least ten times the default's on HPC2N (the paper's own are 9.0 and 6.6 times it on the synthetic sets)",
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
	return papers.Found(slices.Min(v) > best.avg && slices.Max(v) <= 3*best.avg, "%s, the default %s", papers.FromTo(v, papers.Tenth), papers.Tenth(best.avg))
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
	return papers.Found(tolerable == len(pairs) && papers.Most(notWorse, len(pairs)), "not worse in %d of %d, worse by more than a tenth in %d", notWorse, len(pairs), len(pairs)-tolerable)
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
