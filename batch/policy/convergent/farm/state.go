package farm

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// State is the farm at one instant, as the caller of a pass sees it.
type State struct {
	Now      batch.Time
	Machines []Machine
	Licenses []License
	Links    *Links // nil: the bandwidth is the same between all places
	Jobs     []Job  // running and waiting, in order of submission
}

// Machine is one machine of the farm. It runs one job at a time.
type Machine struct {
	Score    int32 // benchmark score, its power: at least 1
	CPUs     int32
	Memory   int64 // bytes; 0 is unknown and not counted
	Licenses Set   // licenses that it can run
	Down     bool  // it runs nothing now
}

// same reports whether both serve the same jobs at the same speed.
func (m *Machine) same(other *Machine) bool {
	return m.Score == other.Score && m.CPUs == other.CPUs && m.Memory == other.Memory && m.Down == other.Down &&
		slices.Equal(m.Licenses, other.Licenses)
}

// Set is a set of licenses, by their index in State.Licenses. The zero Set is empty.
type Set []uint64

// NewSet returns a set of these licenses.
func NewSet(licenses ...int32) Set {
	var s Set
	for _, l := range licenses {
		s = s.With(l)
	}
	return s
}

// With returns the set with one more license. It may reuse the memory of s.
func (s Set) With(license int32) Set {
	for int(license>>6) >= len(s) {
		s = append(s, 0)
	}
	s[license>>6] |= 1 << (license & 63)
	return s
}

// Has reports whether a license is in the set.
func (s Set) Has(license int32) bool {
	return license >= 0 && int(license>>6) < len(s) && s[license>>6]>>(license&63)&1 == 1
}

// License is a license of the farm.
type License struct {
	Name string
	// Copies is the number that can be in use at once: on all machines together, or, if the
	// license is bound, on each machine that has it.
	Copies int32
	// Bound says that the license is not floating: each machine that names it has Copies of
	// its own.
	Bound bool
}

// Need is a number of copies of a license that a job holds while it runs.
type Need struct {
	License int32 // index in State.Licenses
	Copies  int32 // at least 1
}

// Offer returns the number of copies of a license that can be in use at once on the
// machines that are up. A floating license that no such machine can run keeps its copies,
// for which no job competes.
func (s *State) Offer(license int32) int64 {
	l := &s.Licenses[license]
	if !l.Bound {
		return int64(l.Copies)
	}
	var machines int64
	for i := range s.Machines {
		if m := &s.Machines[i]; !m.Down && m.Licenses.Has(license) {
			machines++
		}
	}
	return machines * int64(l.Copies)
}

// Links are the bandwidths between places. They are immutable: a State gets new ones.
type Links struct {
	// Rate is the bandwidth between any two places without an entry in Rates, in bytes per
	// second.
	Rate int64
	// Rates holds, by the place of the data, the bandwidth to each machine. A nil or missing
	// row means Rate.
	Rates [][]int64
}

// To returns the bandwidths from a place to each machine, nil if all of them are Rate.
func (l *Links) To(place int32) []int64 {
	if l == nil || int(place) >= len(l.Rates) {
		return nil
	}
	return l.Rates[place]
}

// Left is the number of free copies of each floating license. Bound licenses are not
// counted: each machine has its own, and runs one job.
type Left []int64

// All returns all copies of the farm and reuses the memory of l.
func (l Left) All(s *State) Left {
	l = l[:0]
	for i := range s.Licenses {
		l = append(l, int64(s.Licenses[i].Copies))
	}
	return l
}

// Enough reports whether there are enough copies for a job.
func (l Left) Enough(s *State, j *Job) bool {
	for _, n := range j.Licenses {
		if !s.Licenses[n.License].Bound && l[n.License] < int64(n.Copies) {
			return false
		}
	}
	return true
}

// Take takes the copies that a job needs, even if there are not enough.
func (l Left) Take(s *State, j *Job) { l.add(s, j, -1) }

// Give returns the copies of a job.
func (l Left) Give(s *State, j *Job) { l.add(s, j, 1) }

func (l Left) add(s *State, j *Job, sign int64) {
	for _, n := range j.Licenses {
		if !s.Licenses[n.License].Bound {
			l[n.License] += sign * int64(n.Copies)
		}
	}
}
