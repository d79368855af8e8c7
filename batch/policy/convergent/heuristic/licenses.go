package heuristic

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Licenses favors jobs that hold many licenses, above all critical ones, so that these become
// free: LI · w(i) / max w, with
//
//	rho(l) = copies of l that jobs request / copies that can be in use at once
//	w(i)   = |L| · sum of rho over i's critical licenses + sum of rho over its others
//
// A license is critical if its rho is above 1. A job requests all copies that it needs, so a
// job that needs two copies counts as two; the paper's jobs need one of each. Jobs without an
// eligible machine are left out because they compete with no other job. farm.State.Offer
// defines the copies that can be in use. If no job requests a license, no job gets points.
//
// The paper also defines an order of jobs by critical licenses first. Its update does not use
// that order, and neither does this code.
type Licenses struct {
	Weight  Constant
	demands []int64
	ratios  []float64 // rho, times |L| if critical
	factor  float64
}

// Name returns "licenses".
func (l *Licenses) Name() string { return "licenses" }

// Begin counts the requested copies.
func (l *Licenses) Begin(s *farm.State, m *farm.Matrix) {
	l.demands = slices.Grow(l.demands[:0], len(s.Licenses))[:len(s.Licenses)]
	clear(l.demands)
	for i := range s.Jobs {
		if len(m.Row(i).Columns) == 0 {
			continue
		}
		for _, n := range s.Jobs[i].Licenses {
			l.demands[n.License] += int64(n.Copies)
		}
	}
	l.ratios = l.ratios[:0]
	for i, demand := range l.demands {
		ratio := 0.0
		if demand > 0 { // a machine can run it, and it has a copy
			offer := s.Offer(int32(i))
			ratio = float64(demand) / float64(offer)
			if demand > offer {
				ratio = float64(ratio * float64(len(s.Licenses)))
			}
		}
		l.ratios = append(l.ratios, ratio)
	}
	most := 0.0
	for i := range s.Jobs {
		if len(m.Row(i).Columns) > 0 {
			most = max(most, l.worth(&s.Jobs[i]))
		}
	}
	l.factor = 0
	if most > 0 {
		l.factor = l.Weight.units() / most
	}
}

// worth returns w of a job.
func (l *Licenses) worth(j *farm.Job) float64 {
	sum := 0.0
	for _, n := range j.Licenses {
		sum += l.ratios[n.License]
	}
	return sum
}

// Look returns the points, which are the same on all machines.
func (l *Licenses) Look(j *farm.Job, _ *farm.Row) (farm.Points, farm.Key) {
	return farm.Points(float64(l.factor * l.worth(j))), farm.Key{}
}

// Write does nothing: the points are the same on all machines.
func (l *Licenses) Write(*farm.Job, *farm.Row) {}
