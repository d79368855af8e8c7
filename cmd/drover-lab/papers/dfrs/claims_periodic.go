package dfrs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// costClaims are those of section 6.3, about the scaled traces with loads of 0.7 and
// more.
var costClaims = []papers.Claim[*study]{
	{
		ID: "bandwidth", Of: "6.3",
		Says:  "The two best algorithms take less than 0.80 GB/s on average, and less than 2.0 GB/s on every trace.",
		Test:  "so, preemptions and migrations together, as the paper prints it (its own are 0.80)",
		Check: bandwidth,
	},
	{
		ID: "per-hour", Of: "6.3",
		Says:  "With them there are under 40 preemptions and under 60 migrations an hour.",
		Test:  "so, on average",
		Check: atMostEach(preemptedHour, 40, migratedHour, 60, secondBest, recommended),
	},
	{
		ID: "per-job", Of: "6.3",
		Says:  "With them a job is preempted under 6 times and migrated under 7 times.",
		Test:  "so, on average",
		Check: atMostEach(preemptedJob, 6, migratedJob, 7, secondBest, recommended),
	},
	{
		ID: "per-hour-greedy", Of: "6.3",
		Says:  "Greedy algorithms that never apply MCB8 have under 10 of each an hour.",
		Test:  "so, on average, for all three",
		Check: atMostEach(preemptedHour, 10, migratedHour, 10, purelyGreedy...),
	},
	{
		ID: "migrations-mcb8", Of: "6.3",
		Says:  "Algorithms that apply MCB8 on each submission migrate far more often: above 120 times an hour.",
		Test:  "each of table 3's three above 120 on average, and above all others of it",
		Check: migrationsPacked,
	},
	{
		ID: "migrations-job", Of: "6.3",
		Says: "They migrate a job 14 times on average and more; all others less than 8 times.",
		Test: "14 at least for each of the three; below 8 for all greedy ones and /per (the paper's own /stretch-per " +
			"has 10.41)",
		Check: migrationsJob,
	},
}

func (s *study) cost(algorithm string, period batch.Duration, m measure) (stat, bool) {
	return s.stat(fractional.Scaled, heavy, algorithm, period, m)
}

func bandwidth(s *study) papers.Finding {
	holds, texts := true, []string{}
	for _, a := range []string{secondBest, recommended} {
		v, ok := s.cost(a, tablePeriod, movedGB)
		if !ok {
			return papers.NotMeasured
		}
		holds = holds && v.avg < 0.805 && v.max < 2
		texts = append(texts, fmt.Sprintf("%s: %s, at most %s", a, papers.Hundredth(v.avg), papers.Hundredth(v.max)))
	}
	return papers.Found(holds, "%s", strings.Join(texts, "; "))
}

// atMostEach holds if preemptions and migrations are below these on average.
func atMostEach(preempted measure, p float64, migrated measure, m float64, of ...string) func(*study) papers.Finding {
	return func(s *study) papers.Finding {
		holds, texts := true, []string{}
		for _, a := range of {
			v, okP := s.cost(a, tablePeriod, preempted)
			w, okM := s.cost(a, tablePeriod, migrated)
			if !okP || !okM {
				return papers.NotMeasured
			}
			holds = holds && v.avg < p && w.avg < m
			texts = append(texts, fmt.Sprintf("%s: %s and %s", a, papers.Hundredth(v.avg), papers.Hundredth(w.avg)))
		}
		return papers.Found(holds, "%s", strings.Join(texts, "; "))
	}
}

// migrations returns those of the algorithms of table 3 that apply MCB8 on each
// submission, and those of the others but for some.
func (s *study) migrations(m measure, but ...string) (packed, others []float64, ok bool) {
	for _, a := range algorithmsOf(paperTable3) {
		v, ok := s.cost(a, tablePeriod, m)
		switch {
		case !ok:
			return nil, nil, false
		case slices.Contains(but, a):
		case strings.HasPrefix(a, "MCB8"):
			packed = append(packed, v.avg)
		default:
			others = append(others, v.avg)
		}
	}
	return packed, others, true
}

func migrationsPacked(s *study) papers.Finding {
	packed, others, ok := s.migrations(migratedHour)
	if !ok {
		return papers.NotMeasured
	}
	return papers.Found(slices.Min(packed) > max(120, slices.Max(others)), "%s; others %s",
		papers.FromTo(packed, papers.Hundredth), papers.FromTo(others, papers.Hundredth))
}

func migrationsJob(s *study) papers.Finding {
	packed, others, ok := s.migrations(migratedJob, "/stretch-per/opt=max")
	if !ok {
		return papers.NotMeasured
	}
	return papers.Found(slices.Min(packed) >= 14 && slices.Max(others) < 8, "%s; others %s",
		papers.FromTo(packed, papers.Hundredth), papers.FromTo(others, papers.Hundredth))
}

// underuseClaims are those of section 6.4.
var underuseClaims = []papers.Claim[*study]{
	{
		ID: "easy-uses-more", Of: "6.4.2",
		Says:  "With the tables' period both best algorithms have a higher underutilization than EASY.",
		Test:  "on each set",
		Check: onSets(allSets, easyUsesMore),
	},
	{
		ID: "underuse-alike", Of: "6.4.2",
		Says:  "The two have similar underutilization.",
		Test:  "means within 0.01 on each set",
		Check: onSets(allSets, underuseAlike),
	},
	{
		ID: "underuse-real", Of: "6.4.2",
		Says:  "On HPC2N EASY's is under 7%, theirs above 34%.",
		Test:  "so",
		Check: underuseReal,
	},
	{
		ID: "underuse-whole", Of: "6.4.2",
		Says:  "On the log in one piece it is 8% for EASY and 10% for the best algorithms.",
		Test:  "within a point of a percent, both",
		Check: underuseWhole,
	},
	{
		ID: "period-falls", Of: "6.4.2",
		Says: "Underutilization decreases steadily with the period, from 600 s to 12,000 s.",
		Test: "from each period that was run to the next it rises by no more than 0.005, and in all it falls, on " +
			"each set",
		Check: onSets(allSets, periodFalls),
	},
	{
		ID: "period-synthetic", Of: "6.4.2",
		Says:  "On the synthetic sets it is below EASY's for periods above 900 s.",
		Test:  "at each period above 900 s up to 12,000 s that was run",
		Check: onSets(synthetic, againstEASY(func(p batch.Duration) bool { return p > 900*batch.Second }, less)),
	},
	{
		ID: "period-real", Of: "6.4.2",
		Says: "On HPC2N it is above EASY's whatever the period.",
		Test: "at each period up to 12,000 s that was run",
		Check: onSets([]string{fractional.HPC2N}, againstEASY(func(batch.Duration) bool { return true },
			func(a, b float64) bool { return a > b })),
	},
	{
		ID: "plateau", Of: "6.4.2",
		Says:  "On HPC2N it comes down to a plateau of about 11.8%.",
		Test:  "the least of all periods is within 0.094 and 0.142, a fifth either way",
		Check: plateau,
	},
	{
		ID: "period-stretch", Of: "6.4.2",
		Says: "A period 20 times as long makes degradation grow by less than a factor of 3 (scaled), 1.5 (unscaled) " +
			"and 2 (HPC2N).",
		Test:  "mean degradation with 12,000 s over that with 600 s",
		Check: periodStretch,
	},
	{
		ID: "period-orders", Of: "6.4.2",
		Says:  "With such a period EASY is still outperformed by two orders of magnitude.",
		Test:  "mean degradation with 12,000 s at most a hundredth of EASY's on each set",
		Check: onSets(allSets, periodOrders),
	},
	{
		ID: "hour-bandwidth", Of: "6.4.2",
		Says:  "With a period of one hour bandwidth is under 0.2 GB/s on average, about a quarter.",
		Test:  "scaled traces with loads of 0.7 and more: below 0.2, and 2.5 to 6 times less than with 600 s",
		Check: hourBandwidth,
	},
}

func easyUsesMore(s *study, set string) papers.Finding {
	v, ok := s.figuresOf(set, []string{fractional.EASY, secondBest, recommended}, underused)
	if !ok {
		return papers.NotMeasured
	}
	a := averages(v)
	return papers.Found(a[0] < min(a[1], a[2]), "%s; %s and %s", papers.Ratio(a[0]), papers.Ratio(a[1]),
		papers.Ratio(a[2]))
}

func underuseAlike(s *study, set string) papers.Finding {
	v, ok := s.figuresOf(set, []string{secondBest, recommended}, underused)
	if !ok {
		return papers.NotMeasured
	}
	a := averages(v)
	return papers.Found(slices.Max(a)-slices.Min(a) <= 0.01, "%s and %s", papers.Ratio(a[0]), papers.Ratio(a[1]))
}

func underuseReal(s *study) papers.Finding {
	v, ok := s.figuresOf(fractional.HPC2N, []string{fractional.EASY, secondBest, recommended}, underused)
	if !ok {
		return papers.NotMeasured
	}
	a := averages(v)
	return papers.Found(a[0] < 0.07 && min(a[1], a[2]) > 0.34, "%s; %s and %s", papers.Percent(a[0]),
		papers.Percent(a[1]), papers.Percent(a[2]))
}

func underuseWhole(s *study) papers.Finding {
	v, ok := s.figuresOf(fractional.Whole, []string{fractional.EASY, recommended}, underused)
	if !ok {
		return papers.NotMeasured
	}
	a := averages(v)
	return papers.Found(papers.Within(0.07, 0.09)(a[0]) && papers.Within(0.09, 0.11)(a[1]), "%s and %s",
		papers.Percent(a[0]), papers.Percent(a[1]))
}

// span returns the periods of figures 3 and 4 that were run: they begin with the
// tables', and end with the figures'. None if they do not.
func (s *study) span(set string) []batch.Duration {
	all := s.periods(set)
	from, to := slices.Index(all, tablePeriod), slices.Index(all, lastPeriod)
	if from < 0 || to <= from {
		return nil
	}
	return all[from : to+1]
}

// along returns the means of the default with each of the periods.
func (s *study) along(set string, periods []batch.Duration, m measure) (v []float64) {
	for _, p := range periods {
		f, _ := s.stat(set, whole, recommended, p, m)
		v = append(v, f.avg)
	}
	return v
}

func periodFalls(s *study, set string) papers.Finding {
	periods := s.span(set)
	if periods == nil {
		return papers.NotMeasured
	}
	v := s.along(set, periods, underused)
	holds, texts := v[len(v)-1] < v[0], []string{}
	for i := range v {
		holds = holds && (i == 0 || v[i] <= v[i-1]+0.005)
		texts = append(texts, papers.Ratio(v[i]))
	}
	return papers.Found(holds, "%s", strings.Join(texts, ", "))
}

func againstEASY(
	which func(batch.Duration) bool, holds func(ours, easy float64) bool,
) func(*study, string) papers.Finding {
	return func(s *study, set string) papers.Finding {
		easy, ok := s.at(set, fractional.EASY, underused)
		periods := slices.DeleteFunc(slices.Clone(s.span(set)), func(p batch.Duration) bool { return !which(p) })
		if !ok || len(periods) == 0 {
			return papers.NotMeasured
		}
		v := s.along(set, periods, underused)
		n := papers.CountWhere(v, func(x float64) bool { return holds(x, easy.avg) })
		return papers.Found(n == len(v), "at %d of %d, from %s (%s) to %s (%s); EASY %s",
			n, len(v), papers.Ratio(v[0]), inSeconds(periods[0]), papers.Ratio(v[len(v)-1]),
			inSeconds(periods[len(v)-1]), papers.Ratio(easy.avg))
	}
}

func plateau(s *study) papers.Finding {
	periods := s.span(fractional.HPC2N)
	if periods == nil {
		return papers.NotMeasured
	}
	v := s.along(fractional.HPC2N, periods, underused)
	least := slices.Min(v)
	return papers.Found(papers.Within(0.094, 0.142)(least), "%s, with %s", papers.Percent(least),
		inSeconds(periods[slices.Index(v, least)]))
}

func periodStretch(s *study) papers.Finding {
	holds, texts := true, []string{}
	for set, factor := range map[string]float64{fractional.HPC2N: 2, fractional.Unscaled: 1.5, fractional.Scaled: 3} {
		periods := s.span(set)
		if periods == nil {
			return papers.NotMeasured
		}
		v := s.along(set, []batch.Duration{tablePeriod, lastPeriod}, degradation)
		holds = holds && v[1] < factor*v[0]
		texts = append(texts, fmt.Sprintf("%s %s (%s to %s)", set, papers.Times(v[1], v[0]), papers.Tenth(v[0]),
			papers.Tenth(v[1])))
	}
	slices.Sort(texts)
	return papers.Found(holds, "%s", strings.Join(texts, "; "))
}

func periodOrders(s *study, set string) papers.Finding {
	easy, okE := s.at(set, fractional.EASY, degradation)
	own, ok := s.stat(set, whole, recommended, lastPeriod, degradation)
	if !ok || !okE {
		return papers.NotMeasured
	}
	return papers.Found(own.avg <= easy.avg/orders, "%s and %s", papers.Tenth(own.avg), papers.Tenth(easy.avg))
}

func hourBandwidth(s *study) papers.Finding {
	short, okS := s.cost(recommended, tablePeriod, movedGB)
	hour, okH := s.cost(recommended, hourPeriod, movedGB)
	if !okS || !okH {
		return papers.NotMeasured
	}
	return papers.Found(hour.avg < 0.2 && papers.Within(2.5, 6)(short.avg/hour.avg), "%s, with 600 s %s",
		papers.Hundredth(hour.avg), papers.Hundredth(short.avg))
}
