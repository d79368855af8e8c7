package reallocation

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// overallClaims are those of sections 5.3 and 6, in our words.
var overallClaims = []papers.Claim[*study]{
	{
		ID: "regular-shared", Of: "5.3", Figure: 13,
		Says:  "On non-dedicated platforms MCT-reg and MinMin-reg are similar, mostly in favour of MCT-reg.",
		Test:  "mean responses within 0.05, MCT-reg not worse in more than half of the pairs",
		Check: similarInFavour(false, mctReg, minminReg),
	},
	{
		ID: "regular-dedicated", Of: "5.3", Figure: 9,
		Says:  "On dedicated platforms MCT-reg is clearly better than MinMin-reg.",
		Test:  "mean response less by 0.02 at least, and less in more than half of the pairs",
		Check: clearlyBetter,
	},
	{
		ID: "cancellation-similar", Of: "5.3", Figure: 9,
		Says:  "The two all-cancellations are very similar, MCT a little better on dedicated platforms.",
		Test:  "mean responses within 0.05, MCT-can not worse in more than half of the pairs",
		Check: similarInFavour(true, mctCan, minminCan),
	},
	{
		ID: "starvation", Of: "5.3",
		Says:  "All-cancellation could starve jobs, but in no simulation it did.",
		Test:  "no job got a later place in more than 168 rounds, a week of them",
		Check: starvation,
	},
	{
		ID: "choice", Of: "5.3",
		Says:  "MCT is the heuristic of choice, with either algorithm, on dedicated platforms or not.",
		Test:  "MCT's mean response is not greater than MinMin's, in all four",
		Check: choice,
	},
	{
		ID: "homogeneous", Of: "5.3",
		Says:  "On sites of one speed the gains are usually greater, by a few percent.",
		Test:  "in more than half of the pairs of experiments that differ in this alone",
		Check: homogeneous,
	},
	{
		ID: "conclusion-dedicated", Of: "6", Figure: 9,
		Says:  "On dedicated platforms all-cancellation is the better algorithm.",
		Test:  "mean response less than that of regular",
		Check: betterAlgorithm(true, cans, regs),
	},
	{
		ID: "conclusion-shared", Of: "6", Figure: 13,
		Says:  "On non-dedicated platforms regular is the better algorithm.",
		Test:  "mean response less than that of all-cancellation",
		Check: betterAlgorithm(false, regs, cans),
	},
	{
		ID: "conclusion-few-moves", Of: "6",
		Says:  "Few jobs move, and many gain by it: many more are impacted.",
		Test:  "five times as many jobs are impacted as are moved, on average, on both platforms",
		Check: fewMoves,
	},
}

func similarInFavour(dedicated bool, a, b couple) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		v, text, ok := s.means(dedicated, relative, a, b)
		pairs := s.paired(dedicated, a, b, relative)
		if !ok || len(pairs) == 0 {
			return papers.NotMeasured
		}
		n := papers.CountWhere(pairs, func(p pair) bool { return p.a <= p.b })
		return papers.Found(slices.Max(v)-slices.Min(v) <= near && papers.Most(n, len(pairs)),
			"%s; %s not worse in %d of %d pairs", text, a.name, n, len(pairs))
	}
}

func clearlyBetter(s *study) papers.Finding {
	v, text, ok := s.means(true, relative, mctReg, minminReg)
	pairs := s.paired(true, mctReg, minminReg, relative)
	if !ok || len(pairs) == 0 {
		return papers.NotMeasured
	}
	n := papers.CountWhere(pairs, falls)
	return papers.Found(v[0] <= v[1]-0.02 && papers.Most(n, len(pairs)), "%s; less in %d of %d pairs", text, n, len(pairs))
}

func starvation(s *study) papers.Finding {
	rows := append(s.all(true, cans...), s.all(false, cans...)...)
	if len(rows) == 0 {
		return papers.NotMeasured
	}
	worst := slices.MaxFunc(rows, func(a, b *Row) int { return a.PutBackLater - b.PutBackLater })
	return papers.Found(worst.PutBackLater <= 168, "in %d rounds at most (%s)", worst.PutBackLater, worst.Key)
}

func choice(s *study) papers.Finding {
	holds, text := true, ""
	for _, dedicated := range []bool{true, false} {
		for i := range regs {
			a, b := []couple{mctReg, mctCan}[i], []couple{minminReg, minminCan}[i]
			v, means, ok := s.means(dedicated, relative, a, b)
			if !ok {
				return papers.NotMeasured
			}
			if text != "" {
				text += "; "
			}
			holds = holds && v[0] <= v[1]
			text += platform(dedicated) + " " + means
		}
	}
	return papers.Found(holds, "%s", text)
}

func homogeneous(s *study) papers.Finding {
	var pairs []pair
	for _, r := range append(s.all(true, couples...), s.all(false, couples...)...) {
		same := r.Key
		same.Homogeneous = true
		pairs = s.rows.pair(pairs, r, same, relative)
	}
	if len(pairs) == 0 {
		return papers.NotMeasured
	}
	n, hetero, homo := 0, 0., 0.
	for _, p := range pairs {
		if p.b < p.a {
			n++
		}
		hetero, homo = hetero+p.a, homo+p.b
	}
	of := float64(len(pairs))
	return papers.Found(papers.Most(n, len(pairs)), "greater in %d of %d pairs; mean %s, heterogeneous %s", n, len(pairs), papers.Ratio(homo/of), papers.Ratio(hetero/of))
}

func betterAlgorithm(dedicated bool, better, than []couple) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		a, b := values(s.all(dedicated, better...), relative), values(s.all(dedicated, than...), relative)
		if len(a) == 0 || len(b) == 0 {
			return papers.NotMeasured
		}
		return papers.Found(papers.Mean(a) < papers.Mean(b), "%s %s, %s %s", better[0].algorithm, papers.Ratio(papers.Mean(a)), than[0].algorithm, papers.Ratio(papers.Mean(b)))
	}
}

func fewMoves(s *study) papers.Finding {
	holds, text := true, ""
	for _, dedicated := range []bool{true, false} {
		rows := s.all(dedicated, couples...)
		touched, moved := values(rows, impacted), values(rows, reallocations)
		if len(touched) == 0 || len(moved) == 0 {
			return papers.NotMeasured
		}
		if text != "" {
			text += "; "
		}
		holds = holds && papers.Mean(touched) >= 5*papers.Mean(moved)
		text += platform(dedicated) + ": impacted " + papers.Percent(papers.Mean(touched)) + ", moves " + papers.Percent(papers.Mean(moved))
	}
	return papers.Found(holds, "%s", text)
}
