package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// regular moves jobs one by one while they wait.
func (r *Round) regular() {
	r.standing = true
	var movable []int
	for j := range r.jobs {
		if r.mayLeave(j) {
			movable = append(movable, j)
		}
	}
	compared, rest := r.window(movable)
	if r.config.Heuristic != MCT {
		rest = nil // nobody asks about the jobs outside of the window
	}
	for s := range r.sites {
		for _, j := range compared {
			r.query(j, s)
		}
		for _, j := range rest {
			r.query(j, s)
		}
	}
	if !r.ask() {
		return
	}
	for j := range r.jobs {
		r.present[j] = r.est.bound(j, r.jobs[j].Site)
	}
	p := r.picker(compared)
	for p.left() > 0 {
		j, ok := p.next()
		if !ok || !r.consider(j, p) {
			return
		}
	}
	for _, j := range rest {
		if !r.consider(j, nil) {
			return
		}
	}
}

// consider moves a job if that is worth while. It is false if the round is over.
func (r *Round) consider(j int, p picker) bool {
	if r.config.MostMovesRound > 0 && r.record.Moves >= r.config.MostMovesRound {
		return false
	}
	r.record.Picked++
	own := r.jobs[j].Site
	if !r.est.exact(j, own) {
		if r.query(j, own); !r.ask() {
			return false
		}
	}
	to, ok := r.best(j, true)
	if !ok {
		return false
	}
	present := r.est.bound(j, own)
	if to < 0 || present >= batch.Forever || r.est.bound(j, to) >= batch.Forever {
		return true
	}
	gain := present - r.est.bound(j, to)
	if gain < r.needed(j, own, to) {
		return true
	}
	past := r.jobs[j].Past
	past.Moves++
	switch {
	case !r.do(Step{Kind: Move, Job: j, From: own, To: to, Gain: gain, Past: past}):
		return false
	case r.step.Failed: // nobody knows what was done
		r.record.Failed++
		r.est.emptier(own)
		r.est.emptier(to)
	default:
		r.record.Moves++
		r.record.Gain += gain
	}
	switch {
	case p != nil:
		return r.moved(p, j, present, to)
	case !r.step.Failed:
		r.est.emptier(own)
		r.est.fuller(to)
	}
	return true
}

// needed is the gain that a move must bring.
func (r *Round) needed(j, from, to int) batch.Duration {
	need := max(r.config.LeastGain, batch.Microsecond)
	if r.transfer != nil {
		if _, known := r.transfer(j, from, to); known {
			return need
		}
	}
	return max(need, r.config.Threshold)
}

// moved goes through what a job has changed that has gone, for those that remain.
// Where plans are promises nothing can be completed earlier at the site it left
// than at the start that it had there, and what stands at the other site stays.
// Gains are measured from what a job has, so that is asked where it may be
// different.
func (r *Round) moved(p picker, gone int, present batch.Duration, to int) bool {
	e, from := &r.est, r.jobs[gone].Site
	promised := r.jobs[gone].Walltime > 0 && !r.step.Failed
	start := max(present-r.jobs[gone].Walltime, 0)
	if !r.step.Failed {
		e.version[from]++
		e.version[to]++
		if !promised {
			e.floor[from] = e.version[from]
		}
	}
	gains := r.config.Heuristic == MaxGain || r.config.Heuristic == MaxRelGain
	p.revise(func(j int) bool {
		changed := !promised
		if promised {
			changed = e.lower(j, from, start)
			if r.jobs[j].Site == to {
				e.keep(j, to)
			}
		}
		if own := r.jobs[j].Site; gains && (own == from || own == to) && !e.exact(j, own) {
			r.query(j, own)
			changed = true
		}
		return changed
	})
	if !r.ask() {
		return false
	}
	p.order()
	return true
}
