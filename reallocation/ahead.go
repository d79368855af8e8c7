package reallocation

// leastAhead is how many jobs are asked about at once, at least.
const leastAhead = 16

// inOrder takes jobs in order of submission. All sites are asked about some of them
// ahead: as many as the sites do not have to be asked about again too often, because
// their plans have changed by the time at which these jobs' turn comes. It ends
// when take says so.
func (r *Round) inOrder(jobs []int, take func(j int) bool) {
	for n := leastAhead; len(jobs) > 0; {
		some := jobs[:min(n, len(jobs))]
		jobs = jobs[len(some):]
		before := r.record.Estimates
		for _, j := range some {
			r.queryAll(j)
		}
		if !r.ask() {
			return
		}
		asked := r.record.Estimates - before
		for _, j := range some {
			r.done[j] = true
			if !take(j) {
				return
			}
			r.est.drop(j)
		}
		switch again := r.record.Estimates - before - asked; {
		case again > asked/4:
			n = max(n/2, leastAhead)
		case again < asked/8:
			n *= 2
		}
	}
}
