package farm

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
