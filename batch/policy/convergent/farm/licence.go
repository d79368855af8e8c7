package farm

// Licence is a licence of the farm.
type Licence struct {
	Name string
	// Copies is how many can be in use at once: on all machines together, or, if the
	// licence is bound, on each machine that has it.
	Copies int32
	// Bound says that the licence is not floating: each machine that names it has its
	// Copies to itself.
	Bound bool
}

// Need is a number of copies of a licence that a job holds while it runs.
type Need struct {
	Licence int32 // index in State.Licences
	Copies  int32 // at least 1
}

// Offer returns how many copies of a licence can be in use at once on the machines that
// are up. A floating licence that no such machine can run still has its copies: nobody
// competes for them.
func (s *State) Offer(licence int32) int64 {
	l := &s.Licences[licence]
	if !l.Bound {
		return int64(l.Copies)
	}
	var machines int64
	for i := range s.Machines {
		if m := &s.Machines[i]; !m.Down && m.Licences.Has(licence) {
			machines++
		}
	}
	return machines * int64(l.Copies)
}
