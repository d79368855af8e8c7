package farm

import "slices"

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
