package dfrs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// dfrsNeed is what a table or a figure is made of: algorithms on a part of a set, with
// the period of the tables.
type dfrsNeed struct {
	by         string
	set        string
	part       int
	algorithms []string
}

func dfrsNeeds() []dfrsNeed {
	var all []dfrsNeed
	for _, set := range sets {
		all = append(all, dfrsNeed{"tables 2 and 4", set.id, whole, algorithmsOf(paperTable2)})
	}
	return append(all,
		dfrsNeed{"table 3", fractional.Scaled, heavy, algorithmsOf(paperTable3)},
		dfrsNeed{"table 5", fractional.HPC2N, whole, algorithmsOf(paperTable5)},
	)
}

// fewest is how many periods figures 3 and 4 have at least.
const fewest = 3

// lacking names what there are no rows of.
func (s *study) lacking() []string {
	var all []string
	for _, set := range sets {
		if n := s.instances[setPart{set.id, whole}]; n < set.of {
			all = append(all, fmt.Sprintf("%s: %d of %d instances.", set.name, n, set.of))
		}
	}
	for _, need := range dfrsNeeds() {
		if s.instances[setPart{need.set, need.part}] == 0 {
			continue // the set itself lacks, as said above
		}
		var names []string
		for _, algorithm := range need.algorithms {
			if s.cell(need.set, need.part, algorithm, tablePeriod) == nil {
				names = append(names, s.incomplete(need, algorithm))
			}
		}
		if len(names) > 0 {
			all = append(all, fmt.Sprintf("%s, %s: %d of %d algorithms lack: %s.",
				sentence(need.by), need.set, len(names), len(need.algorithms), shortened(names)))
		}
	}
	for _, set := range sets {
		if n := len(s.periods(set.id)); n < fewest && s.instances[setPart{set.id, whole}] > 0 {
			all = append(all, fmt.Sprintf("Figures 3 and 4, %s: %d periods of `%s`.", set.id, n, recommended))
		}
		if s.cell(set.id, whole, recommended, recommendedPeriod) == nil && s.instances[setPart{set.id, whole}] > 0 {
			all = append(all, fmt.Sprintf("`%s` with %s, %s.", recommended, inSeconds(recommendedPeriod), set.id))
		}
	}
	return all
}

// incomplete tells how many rows there are of an algorithm, if there are some.
func (s *study) incomplete(need dfrsNeed, algorithm string) string {
	c := s.cells[key{need.set, need.part, algorithm, periodOf(algorithm, tablePeriod)}]
	if c == nil {
		return "`" + algorithm + "`"
	}
	return fmt.Sprintf("`%s` (%d of %d instances)", algorithm, c.n, s.instances[setPart{need.set, need.part}])
}

// shortened lists names, of many the first ones.
func shortened(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// others are algorithms with rows on any set that the paper has no figures of, but for
// those with settings of their own, with the periods of their rows.
func (s *study) others() []dfrsWay {
	var all []dfrsWay
	for k := range s.cells {
		w := dfrsWay{k.algorithm, k.period}
		if !strings.Contains(k.algorithm, " ") && !slices.Contains(algorithmsOf(paperTable5), k.algorithm) && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b dfrsWay) int {
		if c := strings.Compare(a.algorithm, b.algorithm); c != 0 {
			return c
		}
		return int(min(1, max(-1, a.period-b.period)))
	})
	return all
}

// dfrsWay is an algorithm with a period.
type dfrsWay struct {
	algorithm string
	period    batch.Duration
}

func (w dfrsWay) String() string {
	if w.period == 0 {
		return w.algorithm
	}
	return fmt.Sprintf("%s, period %s", w.algorithm, inSeconds(w.period))
}
