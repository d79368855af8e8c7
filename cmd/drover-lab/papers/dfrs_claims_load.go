package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
)

// loadClaims are those about figure 1.
var loadClaims = []DFRSClaim{
	{
		ID: "low-load", Section: "6.1",
		Says:  "GreedyPM*/opt=min performs well under low load, but becomes poorer than most as the load gets larger than 0.3.",
		Test:  "mean degradation below that of most others of figure 1 at load 0.1, and above that of most at 0.5 and more",
		check: lowLoad,
	},
	{
		ID: "every-load", Section: "6.1",
		Says:  "GreedyPM*/per/opt=min/minvt=600 is the best at every load.",
		Test:  "the least mean degradation of figure 1 at each of nine loads",
		check: everyLoad,
	},
	{
		ID: "load-factor", Section: "6.1",
		Says:  "It is about a factor of 3 away from the bound at low loads, and 7.5 at high ones.",
		Test:  "mean degradation at 0.1 within 2 to 4.5, at 0.9 within 5 to 11.25 (half as much again, either way)",
		check: loadFactor,
	},
}

// atLoad returns the mean degradations of the algorithms of figure 1.
func (s *dfrsStudy) atLoad(load int) (names []string, v []float64, ok bool) {
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

func lowLoad(s *dfrsStudy) finding {
	holds, texts := true, []string{}
	for _, load := range []int{1, 5, 6, 7, 8, 9} {
		names, v, ok := s.atLoad(load)
		if !ok {
			return open
		}
		own := v[slices.Index(names, purelyGreedy[2])]
		worse := where(v, func(x float64) bool { return x < own })
		others := len(v) - 1
		holds = holds && (most(worse, others) == (load > 1))
		texts = append(texts, fmt.Sprintf("0.%d: %s, %d of %d are better", load, tenth(own), worse, others))
	}
	return found(holds, "%s", strings.Join(texts, "; "))
}

func everyLoad(s *dfrsStudy) finding {
	n, texts := 0, []string{}
	for load := 1; load < heavy; load++ {
		names, v, ok := s.atLoad(load)
		if !ok {
			return open
		}
		own := v[slices.Index(names, dfrsDefault)]
		name, least := leastOf(names, v)
		if own <= least {
			n++
			continue
		}
		texts = append(texts, fmt.Sprintf("0.%d: %s %s, itself %s", load, name, tenth(least), tenth(own)))
	}
	texts = append([]string{fmt.Sprintf("the best at %d of 9", n)}, texts...)
	return found(n == heavy-1, "%s", strings.Join(texts, "; "))
}

func loadFactor(s *dfrsStudy) finding {
	low, okLow := s.stat(fractional.Scaled, 1, dfrsDefault, tablePeriod, degradation)
	high, okHigh := s.stat(fractional.Scaled, heavy-1, dfrsDefault, tablePeriod, degradation)
	if !okLow || !okHigh {
		return open
	}
	return found(within(2, 4.5)(low.avg) && within(5, 11.25)(high.avg), "%s at 0.1, %s at 0.9", tenth(low.avg), tenth(high.avg))
}
