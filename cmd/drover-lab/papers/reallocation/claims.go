package reallocation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// Claims returns all claims, in the order of the paper.
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
func cancellationAgainstRegular(
	dedicated bool, m *metric, what string, holds func(pair) bool, enough func(n, of int) bool,
) func(*study) papers.Finding {
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
func share(
	dedicated bool, of []couple, m *metric, what string, holds func(float64) bool, enough func(n, of int) bool,
) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		v := values(s.all(dedicated, of...), m)
		if len(v) == 0 {
			return papers.NotMeasured
		}
		n := papers.CountWhere(v, holds)
		return papers.Found(enough(n, len(v)), "%s in %d of %d experiments; from %s to %s", what, n, len(v),
			m.show(slices.Min(v)), m.show(slices.Max(v)))
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

// dedicatedClaims are those of section 5.1, in our words.
var dedicatedClaims = []papers.Claim[*study]{
	{
		ID: "impacted-range", Of: "5.1", Figure: 6,
		Says:  "But for a few extreme cases, between 25% and 95% of the jobs are impacted.",
		Test:  "at most 5% of the experiments are outside",
		Check: share(true, couples, impacted, "25% to 95%", papers.Within(0.25, 0.95), allBut),
	},
	{
		ID: "impacted-extreme", Of: "5.1", Figure: 6,
		Says:  "In six experiments on two of the traces almost all jobs are impacted.",
		Test:  "over 95% somewhere, and on two scenarios at most",
		Check: extremes,
	},
	{
		ID: "impacted-cancellation", Of: "5.1", Figure: 6,
		Says:  "All-cancellation usually impacts more jobs than regular.",
		Test:  "in more than half of the pairs",
		Check: cancellationAgainstRegular(true, impacted, "more", rises, papers.Most),
	},
	{
		ID: "impacted-minmin-can", Of: "5.1", Figure: 6,
		Says:  "MinMin-can impacts the most jobs on average.",
		Test:  "the greatest of the four means",
		Check: extremeOnAverage(true, impacted, false, minminCan, mctReg, minminReg, mctCan),
	},
	{
		ID: "impacted-regular-close", Of: "5.1", Figure: 6,
		Says:  "MCT-reg and MinMin-reg impact about as many jobs.",
		Test:  "means within 5 points",
		Check: closeOnAverage(true, impacted, regs...),
	},
	{
		ID: "moves-cancellation", Of: "5.1", Figure: 7,
		Says:  "All-cancellation always moves more jobs than regular.",
		Test:  "in all pairs",
		Check: cancellationAgainstRegular(true, reallocations, "more", rises, papers.Every),
	},
	{
		ID: "moves-regular", Of: "5.1", Figure: 7,
		Says:  "Under regular there are fewer moves than 15% of the number of jobs.",
		Test:  "in all experiments",
		Check: share(true, regs, reallocations, "fewer", below(0.15), papers.Every),
	},
	{
		ID: "moves-most", Of: "5.1", Figure: 7,
		Says:  "Under all-cancellation there can be as many as 50%.",
		Test:  "the greatest is within 40% and 60%",
		Check: greatest(true, cans, reallocations, papers.Within(0.4, 0.6)),
	},
	{
		ID: "early-late-cases", Of: "5.1", Figure: 8,
		Says:  "In three cases more jobs are late than early.",
		Test:  "a case is a scenario with a heuristic, by its mean; one to three of them",
		Check: lateCases,
	},
	{
		ID: "early-late-month", Of: "5.1", Figure: 8,
		Says:  "One month always has more jobs late without all-cancellation, by less than 4 points.",
		Test:  "some scenario has 46% to 50% early in all experiments under regular",
		Check: lateMonth,
	},
	{
		ID: "early-mostly", Of: "5.1", Figure: 8,
		Says:  "Mostly it is better to reallocate: more jobs are early than late.",
		Test:  "in more than half of the experiments",
		Check: share(true, couples, early, "more early", above(0.5), papers.Most),
	},
	{
		ID: "early-order", Of: "5.1", Figure: 8,
		Says:  "MinMin-reg has the fewest jobs early, then MCT-reg, then MinMin-can; MCT-can has the most.",
		Test:  "means in this order",
		Check: orderOnAverage(true, early, minminReg, mctReg, minminCan, mctCan),
	},
	{
		ID: "early-best", Of: "5.1", Figure: 8,
		Says:  "With MCT-can up to 64% of the jobs are early.",
		Test:  "the greatest is within 5 points of that",
		Check: greatest(true, []couple{mctCan}, early, papers.Within(0.59, 0.69)),
	},
	{
		ID: "response-gain", Of: "5.1", Figure: 9,
		Says: "Without MinMin-reg, most gains in response time are between 10% and 40%.",
		Test: "0.6 to 0.9 in more than half of the experiments",
		Check: share(true, []couple{mctReg, mctCan, minminCan}, relative, "0.6 to 0.9", papers.Within(0.6, 0.9),
			papers.Most),
	},
	{
		ID: "response-best", Of: "5.1", Figure: 9,
		Says:  "MCT-can is best on average.",
		Test:  "the least of the four means",
		Check: extremeOnAverage(true, relative, true, mctCan, mctReg, minminReg, minminCan),
	},
	{
		ID: "response-worse", Of: "5.1", Figure: 9,
		Says: "Without all-cancellation the response time can get worse; it did in six experiments, three with each " +
			"heuristic.",
		Test:  "above 1 somewhere under regular, nowhere under all-cancellation",
		Check: worse,
	},
	{
		ID: "response-small-loss", Of: "5.1", Figure: 9,
		Says:  "What MCT-reg loses at worst is less than 5%.",
		Test:  "the greatest is below 1.05",
		Check: greatest(true, []couple{mctReg}, relative, below(1.05)),
	},
	{
		ID: "response-cancellation", Of: "5.1", Figure: 9,
		Says:  "All-cancellation is better than regular with the same heuristic everywhere but in one month with MCT.",
		Test:  "means of scenarios; one exception at most",
		Check: cancellationBetter,
	},
	{
		ID: "response-despite-late", Of: "5.1", Figure: 9,
		Says:  "Sometimes the response time improves although more jobs are late than early.",
		Test:  "in some experiment",
		Check: despiteLate,
	},
}

func extremes(s *study) papers.Finding {
	n, total := 0, 0
	var at []string
	for _, scenario := range s.plan.Scenarios {
		for _, c := range couples {
			v := values(s.of(true, scenario, c), impacted)
			total += len(v)
			if k := papers.CountWhere(v, above(nearlyAll)); k > 0 {
				n += k
				at = append(at, scenario)
			}
		}
	}
	if total == 0 {
		return papers.NotMeasured
	}
	at = slices.Compact(at)
	return papers.Found(n > 0 && len(at) <= 2, "over 95%% in %d of %d experiments%s", n, total, named("", at))
}

// named lists where something is so, in brackets.
func named(before string, at []string) string {
	if len(at) == 0 {
		return ""
	}
	return " (" + before + strings.Join(at, ", ") + ")"
}

func lateCases(s *study) papers.Finding {
	late, cases := 0, 0
	var at []string
	for _, scenario := range s.plan.Scenarios {
		for _, c := range couples {
			v := values(s.of(true, scenario, c), early)
			if len(v) == 0 {
				continue
			}
			cases++
			if papers.Mean(v) < 0.5 {
				late++
				at = append(at, scenario+" "+c.name)
			}
		}
	}
	if cases == 0 {
		return papers.NotMeasured
	}
	return papers.Found(late >= 1 && late <= 3, "%d of %d cases%s", late, cases, named("", at))
}

func lateMonth(s *study) papers.Finding {
	of := 0
	var at []string
	for _, scenario := range s.plan.Scenarios {
		v := append(values(s.of(true, scenario, mctReg), early), values(s.of(true, scenario, minminReg), early)...)
		if len(v) == 0 {
			continue
		}
		of++
		if papers.CountWhere(v, papers.Within(0.46, 0.5)) == len(v) {
			at = append(at, scenario)
		}
	}
	if of == 0 {
		return papers.NotMeasured
	}
	return papers.Found(len(at) > 0, "%d of %d scenarios%s", len(at), of, named("", at))
}

func worse(s *study) papers.Finding {
	v := func(c couple) []float64 { return values(s.all(true, c), relative) }
	text, count := "", map[string]int{}
	for i, c := range couples {
		all := v(c)
		if len(all) == 0 {
			return papers.NotMeasured
		}
		if i > 0 {
			text += ", "
		}
		n := papers.CountWhere(all, above(1))
		count[c.algorithm] += n
		text += fmt.Sprintf("%s %d of %d", c.name, n, len(all))
	}
	return papers.Found(count[regular] > 0 && count[cancellation] == 0, "above 1: %s", text)
}

func cancellationBetter(s *study) papers.Finding {
	cases := 0
	var not []string
	for _, scenario := range s.plan.Scenarios {
		for i, reg := range regs {
			a, b := values(s.of(true, scenario, cans[i]), relative), values(s.of(true, scenario, reg), relative)
			if len(a) == 0 || len(b) == 0 {
				continue
			}
			cases++
			if papers.Mean(a) >= papers.Mean(b) {
				not = append(not, scenario+" "+cans[i].name)
			}
		}
	}
	if cases == 0 {
		return papers.NotMeasured
	}
	return papers.Found(len(not) <= 1, "better in %d of %d cases%s", cases-len(not), cases, named("not ", not))
}

func despiteLate(s *study) papers.Finding {
	rows := s.all(true, couples...)
	if len(rows) == 0 {
		return papers.NotMeasured
	}
	n := papers.CountWhere(rows, func(r *Row) bool {
		e, v := early.of(r), relative.of(r)
		return e.defined && e.value < 0.5 && v.defined && v.value < 1
	})
	return papers.Found(n > 0, "in %d of %d experiments", n, len(rows))
}
