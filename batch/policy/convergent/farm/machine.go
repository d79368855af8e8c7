package farm

import "slices"

// Machine is one machine of the farm. It runs one job at a time.
type Machine struct {
	Score    int32 // benchmark score, its power: at least 1
	CPUs     int32
	Memory   int64 // bytes; 0 is not known and not counted
	Licences Set   // those that it can run
	Down     bool  // nothing can run on it now
}

// same says whether both serve the same jobs at the same speed.
func (m *Machine) same(other *Machine) bool {
	return m.Score == other.Score && m.CPUs == other.CPUs && m.Memory == other.Memory && m.Down == other.Down &&
		slices.Equal(m.Licences, other.Licences)
}

// Set is a set of licences, by their index in State.Licences. The zero Set is empty.
type Set []uint64

// NewSet returns a set of these licences.
func NewSet(licences ...int32) Set {
	var s Set
	for _, l := range licences {
		s = s.With(l)
	}
	return s
}

// With returns the set with one licence more. It may use the memory of s.
func (s Set) With(licence int32) Set {
	for int(licence>>6) >= len(s) {
		s = append(s, 0)
	}
	s[licence>>6] |= 1 << (licence & 63)
	return s
}

// Has says whether a licence is in the set.
func (s Set) Has(licence int32) bool {
	return licence >= 0 && int(licence>>6) < len(s) && s[licence>>6]>>(licence&63)&1 == 1
}
