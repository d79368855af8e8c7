package reallocation

// picker picks jobs by a heuristic: always the one with the least key, by order of
// submission among equal ones.
type picker interface {
	// next takes a job out. It is false if the round is broken off.
	next() (job int, ok bool)
	left() int
	// changed says that a job's answer from a site is another one, perhaps less.
	changed(job, site int)
}

// picker asks all sites about jobs and returns a heuristic's. It is false if the
// round is broken off.
func (r *Round) picker(jobs []int) (picker, bool) {
	if h := r.config.Heuristic; h == MaxMin || h == Sufferage {
		return newScan(r, jobs)
	}
	return newLazy(r, jobs)
}

// pick takes jobs as the heuristic picks them. It is false if the round is over.
func (r *Round) pick(jobs []int, take func(j int, p picker) bool) bool {
	if len(jobs) == 0 {
		return true
	}
	p, ok := r.picker(jobs)
	for ok && p.left() > 0 {
		var j int
		if j, ok = p.next(); ok {
			ok = take(j, p)
			r.est.drop(j)
		}
	}
	return ok
}
