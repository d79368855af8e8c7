package farm

// Left is how many copies of each license nobody has. Only floating ones are counted: of
// those that are bound each machine has its own, and runs one job.
type Left []int64

// All returns all copies of the farm, in the memory of l.
func (l Left) All(s *State) Left {
	l = l[:0]
	for i := range s.Licenses {
		l = append(l, int64(s.Licenses[i].Copies))
	}
	return l
}

// Enough says whether there are as many as a job needs.
func (l Left) Enough(s *State, j *Job) bool {
	for _, n := range j.Licenses {
		if !s.Licenses[n.License].Bound && l[n.License] < int64(n.Copies) {
			return false
		}
	}
	return true
}

// Take takes what a job needs, whether there is as much or not.
func (l Left) Take(s *State, j *Job) { l.add(s, j, -1) }

// Give gives back what a job has.
func (l Left) Give(s *State, j *Job) { l.add(s, j, 1) }

func (l Left) add(s *State, j *Job, sign int64) {
	for _, n := range j.Licenses {
		if !s.Licenses[n.License].Bound {
			l[n.License] += sign * int64(n.Copies)
		}
	}
}
