package dfrs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// versus compares an algorithm with settings beyond the paper with the same without, on
// the instances that both have rows of.
type versus struct {
	set           string
	way           dfrsWay
	n             int
	better, worse int // instances, by more than alike

	with, without       [measureCount]float64 // means
	maxWith, maxWithout float64               // of the degradation
}

// Differences below these values count as equal: the first for a degradation, because its
// bound is exact to a thousandth, the second for the mean of a set.
const (
	alike     = 0.001
	alikeMean = 0.01
)

// settingsOf splits a label: the paper's name, and the settings behind it.
func settingsOf(algorithm string) (name, settings string) {
	name, settings, _ = strings.Cut(algorithm, " ")
	return name, settings
}

// compare pairs each row with settings beyond the paper with the one without.
func (s *study) compare(rows []fractional.Row) {
	at := map[fractional.Case]*fractional.Row{}
	for i := range rows {
		at[rows[i].Case] = &rows[i]
	}
	type group struct {
		set string
		way dfrsWay
	}
	groups := map[group]*versus{}
	done := map[fractional.Case]bool{}
	for i := range rows {
		with := &rows[i]
		name, settings := settingsOf(with.Algorithm)
		plain := with.Case
		plain.Algorithm = name
		without := at[plain]
		if settings == "" || without == nil || with.Bound == 0 || done[with.Case] {
			continue
		}
		done[with.Case] = true
		g := group{with.Set, dfrsWay{with.Algorithm, with.Period}}
		if groups[g] == nil {
			groups[g] = &versus{set: g.set, way: g.way}
		}
		groups[g].add(with, without)
	}
	for _, v := range groups {
		s.pairs = append(s.pairs, *v)
	}
	slices.SortFunc(s.pairs, func(a, b versus) int {
		return cmp.Or(cmp.Compare(orderOf(a.set), orderOf(b.set)), cmp.Compare(a.way.period, b.way.period),
			cmp.Compare(a.way.algorithm, b.way.algorithm))
	})
}

func orderOf(set string) int {
	for i := range sets {
		if sets[i].id == set {
			return i
		}
	}
	return len(sets)
}

func (v *versus) add(with, without *fractional.Row) {
	v.n++
	a, b := measured(with), measured(without)
	for m := range a {
		v.with[m] += (a[m] - v.with[m]) / float64(v.n)
		v.without[m] += (b[m] - v.without[m]) / float64(v.n)
	}
	own, plain := a[degradation], b[degradation]
	v.maxWith, v.maxWithout = max(v.maxWith, own), max(v.maxWithout, plain)
	switch {
	case math.Abs(own-plain) <= alike*plain:
	case own < plain:
		v.better++
	default:
		v.worse++
	}
}

// by is how much more the mean degradation is with the settings, in parts of that without.
func (v *versus) by() float64 { return v.with[degradation]/v.without[degradation] - 1 }

// verdict says whether the settings help: by the mean, and in more instances than not.
func (v *versus) verdict() string {
	switch by := v.by(); {
	case math.Abs(by) < alikeMean:
		return "no difference"
	case by < 0 && v.better > v.worse:
		return "helps"
	case by > 0 && v.worse > v.better:
		return "harms"
	}
	return "mixed"
}

// beside are the measures that are shown beside the degradation.
var beside = []struct {
	head  string
	of    measure
	write func(float64) string
}{
	{"mean stretch", meanStretch, papers.Hundredth},
	{"underutilization", underused, papers.Ratio},
	{"GB/s", movedGB, papers.Hundredth},
	{"migrations/job", migratedJob, papers.Hundredth},
}

// beyond makes the table of what the paper left to future work.
func (r *Report) beyond() {
	t := &papers.Table{Words: 2, Head: []string{
		"set", "settings", "period", "instances", "better", "worse", "degradation", "without", "by", "max", "without",
	}}
	for _, b := range beside {
		t.Head = append(t.Head, b.head, "without")
	}
	t.Head = append(t.Head, "verdict")
	var settings []string
	says := map[string][]string{}
	for i := range r.study.pairs {
		v := &r.study.pairs[i]
		name, with := settingsOf(v.way.algorithm)
		if name != recommended {
			with = v.way.algorithm
		}
		row := []string{
			v.set, with, dfrsPeriodText(v.way.period), papers.Count(v.n), papers.Count(v.better), papers.Count(v.worse),
			papers.Hundredth(v.with[degradation]), papers.Hundredth(v.without[degradation]), papers.Signed(v.by()),
			papers.Tenth(v.maxWith), papers.Tenth(v.maxWithout),
		}
		for _, b := range beside {
			row = append(row, b.write(v.with[b.of]), b.write(v.without[b.of]))
		}
		t.Add(append(row, v.verdict())...)
		settings = papers.Including(settings, with)
		says[with] = append(says[with], fmt.Sprintf("%s on %s with %s (%s)", v.verdict(), v.set,
			dfrsPeriodText(v.way.period), papers.Signed(v.by())))
	}
	lines := []string{fmt.Sprintf("`%s` with settings that the paper has not, against the same without, instance by "+
		"instance. A mean degradation that is within %s is no difference; "+
		"it helps or harms if most instances that differ go the same way.", recommended, papers.Percent(alikeMean))}
	for _, with := range settings {
		lines = append(lines, fmt.Sprintf("`%s`: %s.", with, strings.Join(says[with], "; ")))
	}
	r.Add(&papers.Section{
		Title: "Beyond the paper", File: "beyond", Table: t, Overview: t, Says: lines, Empty: len(t.Rows) == 0,
	})
}

func dfrsPeriodText(p batch.Duration) string {
	if p == 0 {
		return "none"
	}
	return inSeconds(p)
}
