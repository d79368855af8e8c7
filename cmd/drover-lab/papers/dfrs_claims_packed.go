package papers

import (
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
)

// packedClaims are those about MCB8 on submission, /per and /stretch-per.
var packedClaims = []DFRSClaim{
	{
		ID: "thrashing", Section: "6.1",
		Says:  "Algorithms that apply MCB8 on each submission are more than an order of magnitude worse without minvt=600.",
		Test:  "mean degradation on HPC2N at least ten times that with it, for each of the three",
		check: thrashing,
	},
	{
		ID: "mcb8-good", Section: "6.1",
		Says:  "With it they perform very well, but are not among the best.",
		Test:  "mean degradation above the default's, and at most three times that, on each set",
		check: onSets(allSets, packersGood),
	},
	{
		ID: "per", Section: "6.1",
		Says:  "/per is outperformed by the best greedy algorithm more than 6-fold.",
		Test:  "mean degradation at least six times the default's on each set",
		check: onSets(allSets, atMost(1./6, dfrsDefault, onlyPer)),
	},
	{
		ID: "stretch-per", Section: "6.1",
		Says:  "/stretch-per performs on par with /per.",
		Test:  "mean degradation within a tenth on each set",
		check: onSets(allSets, onPar),
	},
	{
		ID: "stretch-per-best", Section: "6.1",
		Says:  "It is more than an order of magnitude worse than the best.",
		Test:  "mean degradation at least ten times the default's on HPC2N (the paper's own are 9.0 and 6.6 times it on the synthetic sets)",
		check: onSets([]string{fractional.HPC2N}, atMost(1./tenfold, dfrsDefault, onlyStretch)),
	},
}

func thrashing(s *dfrsStudy) finding {
	holds, texts := true, []string{}
	for _, with := range packers {
		v, ok := s.figuresOf(fractional.HPC2N, []string{strings.TrimSuffix(with, "/minvt=600"), with}, degradation)
		if !ok {
			return open
		}
		holds = holds && v[0].avg >= tenfold*v[1].avg
		texts = append(texts, with+" "+tenth(v[1].avg)+", without "+tenth(v[0].avg))
	}
	return found(holds, "%s", strings.Join(texts, "; "))
}

func packersGood(s *dfrsStudy, set string) finding {
	best, okA := s.at(set, dfrsDefault, degradation)
	all, okB := s.figuresOf(set, packers, degradation)
	if !okA || !okB {
		return open
	}
	v := averages(all)
	return found(slices.Min(v) > best.avg && slices.Max(v) <= 3*best.avg, "%s, the default %s", fromTo(v, tenth), tenth(best.avg))
}

func onPar(s *dfrsStudy, set string) finding {
	v, ok := s.figuresOf(set, []string{onlyStretch, onlyPer}, degradation)
	if !ok {
		return open
	}
	return found(closeBy(v[0].avg, v[1].avg), "%s and %s", tenth(v[0].avg), tenth(v[1].avg))
}

// optMin compares what differs in opt alone.
func optMin(s *dfrsStudy) finding {
	pairs := s.alikeBut(func(name string) (string, bool) {
		if strings.HasPrefix(name, "/stretch-per") || !strings.Contains(name, "opt=min") {
			return "", false
		}
		return strings.Replace(name, "opt=min", "opt=avg", 1), true
	})
	if len(pairs) == 0 {
		return open
	}
	notWorse := where(pairs, func(p pair) bool { return p.a <= p.b })
	tolerable := where(pairs, func(p pair) bool { return p.a <= p.b*(1+alikeDFRS) })
	return found(tolerable == len(pairs) && most(notWorse, len(pairs)), "not worse in %d of %d, worse by more than a tenth in %d", notWorse, len(pairs), len(pairs)-tolerable)
}

// ofPairs holds if the algorithms with one setting are not worse than those with the
// other in so many of ten.
func ofPairs(worse, better string, ofTen int) func(*dfrsStudy) finding {
	return func(s *dfrsStudy) finding {
		pairs := s.alikeBut(func(name string) (string, bool) {
			if strings.HasPrefix(name, "/") || !strings.Contains(name, better) {
				return "", false
			}
			return strings.Replace(name, better, worse, 1), true
		})
		if len(pairs) == 0 {
			return open
		}
		n := where(pairs, func(p pair) bool { return p.a <= p.b })
		return found(10*n >= ofTen*len(pairs), "not worse in %d of %d", n, len(pairs))
	}
}

// alikeBut pairs the means on HPC2N of each algorithm of table 5 with another of it;
// none if one lacks.
func (s *dfrsStudy) alikeBut(other func(string) (string, bool)) []pair {
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

func minvtPeriod(s *dfrsStudy) finding {
	holds, texts := true, []string{}
	for _, first := range []string{"/per/opt=min", "/per/opt=avg", "/stretch-per/opt=max", "/stretch-per/opt=avg"} {
		var v []float64
		for _, more := range []string{"", "/minft=300", "/minft=600", "/minvt=300", "/minvt=600"} {
			c, ok := s.at(fractional.HPC2N, first+more, degradation)
			if !ok {
				return open
			}
			v = append(v, c.avg)
		}
		holds = holds && slices.Max(v) <= slices.Min(v)*(1+alike)
		texts = append(texts, first+" "+fromTo(v, tenth))
	}
	return found(holds, "%s", strings.Join(texts, "; "))
}
