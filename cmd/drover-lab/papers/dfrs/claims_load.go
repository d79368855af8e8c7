package dfrs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// loadClaims are those about figure 1.
var loadClaims = []papers.Claim[*study]{
	{
		ID: "low-load", Of: "6.1",
		Says:  "GreedyPM*/opt=min performs well under low load, but becomes poorer than most as the load gets larger than 0.3.",
		Test:  "mean degradation below that of most others of figure 1 at load 0.1, and above that of most at 0.5 and more",
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
	return papers.Found(papers.Within(2, 4.5)(low.avg) && papers.Within(5, 11.25)(high.avg), "%s at 0.1, %s at 0.9", papers.Tenth(low.avg), papers.Tenth(high.avg))
}
