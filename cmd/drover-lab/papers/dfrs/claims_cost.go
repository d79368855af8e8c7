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
		Says:  "They migrate a job 14 times on average and more; all others less than 8 times.",
		Test:  "14 at least for each of the three; below 8 for all greedy ones and /per (the paper's own /stretch-per has 10.41)",
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
	return papers.Found(slices.Min(packed) > max(120, slices.Max(others)), "%s; others %s", papers.FromTo(packed, papers.Hundredth), papers.FromTo(others, papers.Hundredth))
}

func migrationsJob(s *study) papers.Finding {
	packed, others, ok := s.migrations(migratedJob, "/stretch-per/opt=max")
	if !ok {
		return papers.NotMeasured
	}
	return papers.Found(slices.Min(packed) >= 14 && slices.Max(others) < 8, "%s; others %s", papers.FromTo(packed, papers.Hundredth), papers.FromTo(others, papers.Hundredth))
}
