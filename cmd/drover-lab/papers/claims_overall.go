package papers

import "slices"

// overallClaims are those of sections 5.3 and 6, in our words.
var overallClaims = []Claim{
	{
		ID: "regular-shared", Section: "5.3", Figure: 13,
		Says:  "On non-dedicated platforms MCT-reg and MinMin-reg are similar, mostly in favour of MCT-reg.",
		Test:  "mean responses within 0.05, MCT-reg not worse in more than half of the pairs",
		check: similarInFavour(false, mctReg, minminReg),
	},
	{
		ID: "regular-dedicated", Section: "5.3", Figure: 9,
		Says:  "On dedicated platforms MCT-reg is clearly better than MinMin-reg.",
		Test:  "mean response less by 0.02 at least, and less in more than half of the pairs",
		check: clearlyBetter,
	},
	{
		ID: "cancellation-similar", Section: "5.3", Figure: 9,
		Says:  "The two all-cancellations are very similar, MCT a little better on dedicated platforms.",
		Test:  "mean responses within 0.05, MCT-can not worse in more than half of the pairs",
		check: similarInFavour(true, mctCan, minminCan),
	},
	{
		ID: "starvation", Section: "5.3",
		Says:  "All-cancellation could starve jobs, but in no simulation it did.",
		Test:  "no job got a later place in more than 168 rounds, a week of them",
		check: starvation,
	},
	{
		ID: "choice", Section: "5.3",
		Says:  "MCT is the heuristic of choice, with either algorithm, on dedicated platforms or not.",
		Test:  "MCT's mean response is not greater than MinMin's, in all four",
		check: choice,
	},
	{
		ID: "homogeneous", Section: "5.3",
		Says:  "On sites of one speed the gains are usually greater, by a few percent.",
		Test:  "in more than half of the pairs of experiments that differ in this alone",
		check: homogeneous,
	},
	{
		ID: "conclusion-dedicated", Section: "6", Figure: 9,
		Says:  "On dedicated platforms all-cancellation is the better algorithm.",
		Test:  "mean response less than that of regular",
		check: betterAlgorithm(true, cans, regs),
	},
	{
		ID: "conclusion-shared", Section: "6", Figure: 13,
		Says:  "On non-dedicated platforms regular is the better algorithm.",
		Test:  "mean response less than that of all-cancellation",
		check: betterAlgorithm(false, regs, cans),
	},
	{
		ID: "conclusion-few-moves", Section: "6",
		Says:  "Few jobs move, and many gain by it: many more are impacted.",
		Test:  "five times as many jobs are impacted as are moved, on average, on both platforms",
		check: fewMoves,
	},
}

func similarInFavour(dedicated bool, a, b couple) func(*study) finding {
	return func(s *study) finding {
		v, text, ok := s.means(dedicated, relative, a, b)
		pairs := s.paired(dedicated, a, b, relative)
		if !ok || len(pairs) == 0 {
			return open
		}
		n := where(pairs, func(p pair) bool { return p.a <= p.b })
		return found(slices.Max(v)-slices.Min(v) <= near && most(n, len(pairs)),
			"%s; %s not worse in %d of %d pairs", text, a.name, n, len(pairs))
	}
}

func clearlyBetter(s *study) finding {
	v, text, ok := s.means(true, relative, mctReg, minminReg)
	pairs := s.paired(true, mctReg, minminReg, relative)
	if !ok || len(pairs) == 0 {
		return open
	}
	n := where(pairs, falls)
	return found(v[0] <= v[1]-0.02 && most(n, len(pairs)), "%s; less in %d of %d pairs", text, n, len(pairs))
}

func starvation(s *study) finding {
	rows := append(s.all(true, cans...), s.all(false, cans...)...)
	if len(rows) == 0 {
		return open
	}
	worst := slices.MaxFunc(rows, func(a, b *Row) int { return a.PutBackLater - b.PutBackLater })
	return found(worst.PutBackLater <= 168, "in %d rounds at most (%s)", worst.PutBackLater, worst.Key)
}

func choice(s *study) finding {
	holds, text := true, ""
	for _, dedicated := range []bool{true, false} {
		for i := range regs {
			a, b := []couple{mctReg, mctCan}[i], []couple{minminReg, minminCan}[i]
			v, means, ok := s.means(dedicated, relative, a, b)
			if !ok {
				return open
			}
			if text != "" {
				text += "; "
			}
			holds = holds && v[0] <= v[1]
			text += platform(dedicated) + " " + means
		}
	}
	return found(holds, "%s", text)
}

func homogeneous(s *study) finding {
	var pairs []pair
	for _, r := range append(s.all(true, couples...), s.all(false, couples...)...) {
		same := r.Key
		same.Homogeneous = true
		pairs = s.rows.pair(pairs, r, same, relative)
	}
	if len(pairs) == 0 {
		return open
	}
	n, hetero, homo := 0, 0., 0.
	for _, p := range pairs {
		if p.b < p.a {
			n++
		}
		hetero, homo = hetero+p.a, homo+p.b
	}
	of := float64(len(pairs))
	return found(most(n, len(pairs)), "greater in %d of %d pairs; mean %s, heterogeneous %s", n, len(pairs), ratio(homo/of), ratio(hetero/of))
}

func betterAlgorithm(dedicated bool, better, than []couple) func(*study) finding {
	return func(s *study) finding {
		a, b := values(s.all(dedicated, better...), relative), values(s.all(dedicated, than...), relative)
		if len(a) == 0 || len(b) == 0 {
			return open
		}
		return found(mean(a) < mean(b), "%s %s, %s %s", better[0].algorithm, ratio(mean(a)), than[0].algorithm, ratio(mean(b)))
	}
}

func fewMoves(s *study) finding {
	holds, text := true, ""
	for _, dedicated := range []bool{true, false} {
		rows := s.all(dedicated, couples...)
		touched, moved := values(rows, impacted), values(rows, reallocations)
		if len(touched) == 0 || len(moved) == 0 {
			return open
		}
		if text != "" {
			text += "; "
		}
		holds = holds && mean(touched) >= 5*mean(moved)
		text += platform(dedicated) + ": impacted " + percent(mean(touched)) + ", moves " + percent(mean(moved))
	}
	return found(holds, "%s", text)
}
