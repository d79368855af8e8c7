package reallocation

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// ReallocationClaims returns all claims, in the order of the paper.
func Claims() []papers.Claim[*study] {
	return slices.Concat(dedicatedClaims, nonDedicatedClaims, overallClaims)
}

// Words that the paper uses, as numbers: it gives none, so what is taken for them is
// fixed here, before anything was measured.
const (
	nearlyAll = 0.95 // "almost all jobs"
	near      = 0.05 // "close", "similar", "very small difference"; 5 points of a share
	few       = 0.05 // "apart from some cases": so many experiments at most
	aLot      = 1. / 3
)

// The checks that several claims share. Each is open where rows lack.

// orderOnAverage holds if the means over all experiments rise in the order of the
// couples.
func orderOnAverage(dedicated bool, m *metric, of ...couple) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		v, text, ok := s.means(dedicated, m, of...)
		if !ok {
			return papers.NotMeasured
		}
		return papers.Found(slices.IsSorted(v), "%s", text)
	}
}

// extremeOnAverage holds if the first couple has the greatest mean, or, with
// least, the least one.
func extremeOnAverage(dedicated bool, m *metric, least bool, of ...couple) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		v, text, ok := s.means(dedicated, m, of...)
		if !ok {
			return papers.NotMeasured
		}
		if least {
			return papers.Found(v[0] <= slices.Min(v), "%s", text)
		}
		return papers.Found(v[0] >= slices.Max(v), "%s", text)
	}
}

// closeOnAverage holds if the means of all couples are close.
func closeOnAverage(dedicated bool, m *metric, of ...couple) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		v, text, ok := s.means(dedicated, m, of...)
		if !ok {
			return papers.NotMeasured
		}
		return papers.Found(slices.Max(v)-slices.Min(v) <= near, "%s", text)
	}
}

// means returns the mean over all experiments of each couple, and a text of them;
// false if a couple has no experiment.
func (s *study) means(dedicated bool, m *metric, of ...couple) ([]float64, string, bool) {
	var out []float64
	text := ""
	for i, c := range of {
		v := values(s.all(dedicated, c), m)
		if len(v) == 0 {
			return nil, "", false
		}
		if i > 0 {
			text += ", "
		}
		out = append(out, papers.Mean(v))
		text += c.name + " " + m.show(out[i])
	}
	return out, text, true
}

// cancellationAgainstRegular compares each experiment under all-cancellation with
// the one under regular with the same heuristic, jobs and seed.
func cancellationAgainstRegular(dedicated bool, m *metric, what string, holds func(pair) bool, enough func(n, of int) bool) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		pairs := append(s.paired(dedicated, mctCan, mctReg, m), s.paired(dedicated, minminCan, minminReg, m)...)
		if len(pairs) == 0 {
			return papers.NotMeasured
		}
		n := papers.CountWhere(pairs, holds)
		return papers.Found(enough(n, len(pairs)), "%s in %d of %d pairs of experiments", what, n, len(pairs))
	}
}

// share holds if enough of the experiments are as they should be.
func share(dedicated bool, of []couple, m *metric, what string, holds func(float64) bool, enough func(n, of int) bool) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		v := values(s.all(dedicated, of...), m)
		if len(v) == 0 {
			return papers.NotMeasured
		}
		n := papers.CountWhere(v, holds)
		return papers.Found(enough(n, len(v)), "%s in %d of %d experiments; from %s to %s", what, n, len(v), m.show(slices.Min(v)), m.show(slices.Max(v)))
	}
}

// greatest holds if the greatest value is as it should be.
func greatest(dedicated bool, of []couple, m *metric, holds func(float64) bool) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		v := values(s.all(dedicated, of...), m)
		if len(v) == 0 {
			return papers.NotMeasured
		}
		return papers.Found(holds(slices.Max(v)), "at most %s", m.show(slices.Max(v)))
	}
}

// How many are enough.

func some(n, _ int) bool    { return n > 0 }
func allBut(n, of int) bool { return float64(of-n) <= few*float64(of) }
func lots(n, of int) bool   { return float64(n) >= aLot*float64(of) }

func above(x float64) func(float64) bool { return func(v float64) bool { return v > x } }
func below(x float64) func(float64) bool { return func(v float64) bool { return v < x } }

func rises(p pair) bool { return p.a > p.b }
func falls(p pair) bool { return p.a < p.b }
