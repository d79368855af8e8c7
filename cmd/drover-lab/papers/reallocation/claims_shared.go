package reallocation

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// nonDedicatedClaims are those of section 5.2, in our words.
var nonDedicatedClaims = []papers.Claim[*study]{
	{
		ID: "shared-impacted-cancellation", Of: "5.2", Figure: 10,
		Says:  "All-cancellation impacts more jobs than regular, but hardly.",
		Test:  "mean greater, by 5 points at most",
		Check: hardlyMore,
	},
	{
		ID: "shared-impacted-outlier", Of: "5.2", Figure: 10,
		Says: "In one experiment, under MinMin-reg, almost all jobs are impacted, because of one decision at its " +
			"beginning.",
		Test:  "over 95% in some experiment under MinMin-reg",
		Check: share(false, []couple{minminReg}, impacted, "over 95%", above(nearlyAll), some),
	},
	{
		ID: "shared-impacted-steady", Of: "5.2", Figure: 10,
		Says: "On one trace the number of impacted jobs usually does not vary much.",
		Test: "the quartiles of all experiments on a scenario are within 10 points, on more than half of the " +
			"scenarios",
		Check: steady,
	},
	{
		ID: "shared-moves-dozens", Of: "5.2", Figure: 11,
		Says:  "Mostly only a few dozen jobs are moved.",
		Test:  "fewer than 100 moves in more than half of the experiments",
		Check: dozens,
	},
	{
		ID: "shared-moves-percent", Of: "5.2", Figure: 11,
		Says:  "In a lot of cases fewer jobs are moved than 1% of them.",
		Test:  "in at least a third of the experiments",
		Check: share(false, couples, reallocations, "fewer", below(0.01), lots),
	},
	{
		ID: "shared-moves-cancellation", Of: "5.2", Figure: 11,
		Says:  "All-cancellation always moves more jobs than regular.",
		Test:  "in all pairs",
		Check: cancellationAgainstRegular(false, reallocations, "more", rises, papers.Every),
	},
	{
		ID: "shared-moves-not-by-far", Of: "5.2", Figure: 11,
		Says:  "But not by far.",
		Test:  "the mean is at most twice that of regular",
		Check: notByFar,
	},
	{
		ID: "shared-early-mostly", Of: "5.2", Figure: 12,
		Says:  "Most experiments have more than half of the jobs early.",
		Test:  "in more than half of the experiments",
		Check: share(false, couples, early, "more early", above(0.5), papers.Most),
	},
	{
		ID: "shared-early-exceptions", Of: "5.2", Figure: 12,
		Says:  "The exceptions are under MinMin-reg: the worst case of the long trace, and one month.",
		Test:  "half or fewer early only under MinMin-reg, somewhere",
		Check: exceptions,
	},
	{
		ID: "shared-early-outlier", Of: "5.2", Figure: 12,
		Says:  "The experiment in which almost all jobs are impacted has about 90% of them late.",
		Test:  "at most 15% early in an experiment under MinMin-reg with over 95% impacted",
		Check: lateOutlier,
	},
	{
		ID: "shared-early-70", Of: "5.2", Figure: 12,
		Says:  "Most experiments have close to 70% of the jobs early.",
		Test:  "65% to 75% in more than half of the experiments",
		Check: share(false, couples, early, "65% to 75%", papers.Within(0.65, 0.75), papers.Most),
	},
	{
		ID: "shared-early-cancellation", Of: "5.2", Figure: 12,
		Says:  "All-cancellation has fewer jobs early than regular.",
		Test:  "in more than half of the pairs",
		Check: cancellationAgainstRegular(false, early, "fewer", falls, papers.Most),
	},
	{
		ID: "shared-early-mct", Of: "5.2", Figure: 12,
		Says:  "MinMin-reg is uneven on the long trace, so MCT-reg is the better choice there.",
		Test:  "on the first scenario the least share early is smaller under MinMin-reg",
		Check: uneven,
	},
	{
		ID: "shared-response-close", Of: "5.2", Figure: 13,
		Says:  "The four give response times close to one another.",
		Test:  "means within 0.05",
		Check: closeOnAverage(false, relative, couples...),
	},
	{
		ID: "shared-response-range", Of: "5.2", Figure: 13,
		Says:  "Under all-cancellation the least and the greatest gain are usually closer to each other.",
		Test:  "in more than half of the cases, each a scenario with a heuristic",
		Check: narrower,
	},
	{
		ID: "shared-response-half", Of: "5.2", Figure: 13,
		Says:  "In some experiments the response time is more than halved.",
		Test:  "below 0.5 somewhere",
		Check: share(false, couples, relative, "below 0.5", below(0.5), some),
	},
	{
		ID: "shared-response-worst", Of: "5.2", Figure: 13,
		Says:  "In others it grows, by 40% at most.",
		Test:  "the greatest is above 1, and at most 1.4",
		Check: greatest(false, couples, relative, func(v float64) bool { return v > 1 && v <= 1.4 }),
	},
	{
		ID: "shared-response-mean", Of: "5.2", Figure: 13,
		Says:  "The average gain is positive in all cases.",
		Test:  "the mean of each scenario with each heuristic is below 1",
		Check: alwaysGain,
	},
}

func hardlyMore(s *study) papers.Finding {
	a, b := values(s.all(false, cans...), impacted), values(s.all(false, regs...), impacted)
	if len(a) == 0 || len(b) == 0 {
		return papers.NotMeasured
	}
	more := papers.Mean(a) - papers.Mean(b)
	return papers.Found(more > 0 && more <= near, "all-cancellation %s, regular %s", papers.Percent(papers.Mean(a)),
		papers.Percent(papers.Mean(b)))
}

func steady(s *study) papers.Finding {
	n, of := 0, 0
	for _, scenario := range s.plan.Scenarios {
		var v []float64
		for _, c := range couples {
			v = append(v, values(s.of(false, scenario, c), impacted)...)
		}
		b, err := chart.Summarize(v)
		if err != nil || b.N == 0 {
			continue
		}
		of++
		if b.Q3-b.Q1 <= 0.1 {
			n++
		}
	}
	if of == 0 {
		return papers.NotMeasured
	}
	return papers.Found(papers.Most(n, of), "on %d of %d scenarios", n, of)
}

func dozens(s *study) papers.Finding {
	rows := s.all(false, couples...)
	if len(rows) == 0 {
		return papers.NotMeasured
	}
	n := papers.CountWhere(rows, func(r *Row) bool { return r.Reallocations < 100 })
	least := slices.MinFunc(rows, byMoves).Reallocations
	greatest := slices.MaxFunc(rows, byMoves).Reallocations
	return papers.Found(papers.Most(n, len(rows)), "fewer in %d of %d experiments; from %d to %d", n, len(rows), least,
		greatest)
}

func byMoves(a, b *Row) int { return a.Reallocations - b.Reallocations }

func notByFar(s *study) papers.Finding {
	a, b := values(s.all(false, cans...), reallocations), values(s.all(false, regs...), reallocations)
	if len(a) == 0 || len(b) == 0 {
		return papers.NotMeasured
	}
	return papers.Found(papers.Mean(a) <= 2*papers.Mean(b), "all-cancellation %s, regular %s",
		papers.Percent(papers.Mean(a)), papers.Percent(papers.Mean(b)))
}

func exceptions(s *study) papers.Finding {
	n, elsewhere := 0, 0
	for _, c := range couples {
		v := values(s.all(false, c), early)
		if len(v) == 0 {
			return papers.NotMeasured
		}
		k := papers.CountWhere(v, papers.Within(0, 0.5))
		if c == minminReg {
			n += k
		} else {
			elsewhere += k
		}
	}
	return papers.Found(n > 0 && elsewhere == 0, "MinMin-reg %d experiments, the others %d", n, elsewhere)
}

func lateOutlier(s *study) papers.Finding {
	rows := s.all(false, minminReg)
	if len(rows) == 0 {
		return papers.NotMeasured
	}
	n, late := 0, 0
	for _, r := range rows {
		if i := impacted.of(r); i.defined && i.value > nearlyAll {
			n++
			if e := early.of(r); e.defined && e.value <= 0.15 {
				late++
			}
		}
	}
	return papers.Found(late > 0, "%d of %d such experiments", late, n)
}

func uneven(s *study) papers.Finding {
	first := s.plan.Scenarios[0]
	a, b := values(s.of(false, first, minminReg), early), values(s.of(false, first, mctReg), early)
	if len(a) == 0 || len(b) == 0 {
		return papers.NotMeasured
	}
	return papers.Found(slices.Min(a) < slices.Min(b), "on %s at least %s under MinMin-reg, %s under MCT-reg", first,
		papers.Percent(slices.Min(a)), papers.Percent(slices.Min(b)))
}

func narrower(s *study) papers.Finding {
	n, of := 0, 0
	for _, scenario := range s.plan.Scenarios {
		for i, reg := range regs {
			a, b := values(s.of(false, scenario, cans[i]), relative), values(s.of(false, scenario, reg), relative)
			if len(a) == 0 || len(b) == 0 {
				continue
			}
			of++
			if slices.Max(a)-slices.Min(a) < slices.Max(b)-slices.Min(b) {
				n++
			}
		}
	}
	if of == 0 {
		return papers.NotMeasured
	}
	return papers.Found(papers.Most(n, of), "in %d of %d cases", n, of)
}

func alwaysGain(s *study) papers.Finding {
	of := 0
	var not []string
	for _, scenario := range s.plan.Scenarios {
		for _, c := range couples {
			v := values(s.of(false, scenario, c), relative)
			if len(v) == 0 {
				continue
			}
			of++
			if papers.Mean(v) >= 1 {
				not = append(not, scenario+" "+c.name)
			}
		}
	}
	if of == 0 {
		return papers.NotMeasured
	}
	return papers.Found(len(not) == 0, "in %d of %d cases%s", of-len(not), of, named("not ", not))
}

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
	return papers.Found(v[0] <= v[1]-0.02 && papers.Most(n, len(pairs)), "%s; less in %d of %d pairs", text, n,
		len(pairs))
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
	return papers.Found(papers.Most(n, len(pairs)), "greater in %d of %d pairs; mean %s, heterogeneous %s", n,
		len(pairs),
		papers.Ratio(homo/of), papers.Ratio(hetero/of))
}

func betterAlgorithm(dedicated bool, better, than []couple) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		a, b := values(s.all(dedicated, better...), relative), values(s.all(dedicated, than...), relative)
		if len(a) == 0 || len(b) == 0 {
			return papers.NotMeasured
		}
		return papers.Found(papers.Mean(a) < papers.Mean(b), "%s %s, %s %s", better[0].algorithm,
			papers.Ratio(papers.Mean(a)), than[0].algorithm, papers.Ratio(papers.Mean(b)))
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
		text += platform(dedicated) + ": impacted " + papers.Percent(papers.Mean(touched)) + ", moves " +
			papers.Percent(papers.Mean(moved))
	}
	return papers.Found(holds, "%s", text)
}
