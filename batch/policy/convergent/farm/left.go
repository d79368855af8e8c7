package farm

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
