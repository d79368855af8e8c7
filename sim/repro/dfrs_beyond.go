package repro

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/fractional"
)

// versus compares an algorithm with settings beyond the paper with the same without, on
// the instances that both have rows of.
type versus struct {
	set           string
	way           dfrsWay
	n             int
	better, worse int // instances, by more than alike

	with, without               stat    // degradation; std is left out
	withMean, withoutMean       float64 // of mean stretches
	withUnderuse, withoutUnused float64
}

// Differences that are none: of a degradation, whose bound is exact to a thousandth, and
// of the mean of a set.
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
func (s *dfrsStudy) compare(rows []fractional.Row) {
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
		return cmp.Or(cmp.Compare(orderOf(a.set), orderOf(b.set)), cmp.Compare(a.way.period, b.way.period), cmp.Compare(a.way.algorithm, b.way.algorithm))
	})
}

func orderOf(set string) int {
	for i := range dfrsSets {
		if dfrsSets[i].id == set {
			return i
		}
	}
	return len(dfrsSets)
}

func (v *versus) add(with, without *fractional.Row) {
	v.n++
	n := float64(v.n)
	mean := func(at *float64, x float64) { *at += (x - *at) / n }
	a, b := with.Degradation(), without.Degradation()
	mean(&v.with.avg, a)
	mean(&v.without.avg, b)
	v.with.max, v.without.max = max(v.with.max, a), max(v.without.max, b)
	mean(&v.withMean, with.MeanStretch)
	mean(&v.withoutMean, without.MeanStretch)
	mean(&v.withUnderuse, with.Underutilization())
	mean(&v.withoutUnused, without.Underutilization())
	switch {
	case math.Abs(a-b) <= alike*b:
	case a < b:
		v.better++
	default:
		v.worse++
	}
}

// verdict says whether the settings help, by the mean and by the number of instances.
func (v *versus) verdict() string {
	by := v.with.avg/v.without.avg - 1
	switch {
	case by <= -alikeMean && v.better > v.worse:
		return "helps"
	case by >= alikeMean && v.worse > v.better:
		return "harms"
	case math.Abs(by) < alikeMean && 10*v.better <= v.n && 10*v.worse <= v.n:
		return "no difference"
	}
	return "mixed"
}

// beyond makes the table of what the paper left to future work.
func (r *DFRSReport) beyond() {
	t := &table{text: 2, head: []string{
		"set", "settings", "period", "instances", "better", "worse", "degradation with", "without", "by", "max with", "without", "mean stretch with", "without", "underutilization with", "without", "verdict",
	}}
	var says []string
	var settings []string
	for i := range r.study.pairs {
		v := &r.study.pairs[i]
		name, with := settingsOf(v.way.algorithm)
		if name != dfrsDefault {
			with = v.way.algorithm
		}
		settings = including(settings, with)
		t.add(v.set, with, dfrsPeriodText(v.way.period), count(v.n), count(v.better), count(v.worse), hundredth(v.with.avg), hundredth(v.without.avg), signed(v.with.avg/v.without.avg-1),
			tenth(v.with.max), tenth(v.without.max), hundredth(v.withMean), hundredth(v.withoutMean), ratio(v.withUnderuse), ratio(v.withoutUnused), v.verdict())
	}
	for _, with := range settings {
		var parts []string
		for i := range r.study.pairs {
			v := &r.study.pairs[i]
			if name, own := settingsOf(v.way.algorithm); own == with && name == dfrsDefault || v.way.algorithm == with {
				parts = append(parts, fmt.Sprintf("%s on %s (period %s): %s on the mean, better in %d and worse in %d of %d instances",
					v.verdict(), v.set, dfrsPeriodText(v.way.period), signed(v.with.avg/v.without.avg-1), v.better, v.worse, v.n))
			}
		}
		says = append(says, fmt.Sprintf("`%s` %s.", with, strings.Join(parts, "; ")))
	}
	r.sections = append(r.sections, section{
		title: "Beyond the paper", file: "beyond", table: t, overview: t, says: says, empty: len(t.rows) == 0,
	})
}

func dfrsPeriodText(p batch.Duration) string {
	if p == 0 {
		return "none"
	}
	return inSeconds(p)
}
