package reallocation

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// regular moves jobs one by one while they wait.
func (r *Round) regular() {
	var movable []int
	for j := range r.jobs {
		if r.mayLeave(j) {
			movable = append(movable, j)
		}
	}
	compared, rest := r.window(movable)
	if r.config.Heuristic != MCT { // nobody looks at jobs outside of a window
		rest = nil
	}
	for j := range r.done {
		r.done[j] = true
	}
	for _, j := range slices.Concat(compared, rest) {
		r.done[j] = false
	}
	if !r.pick(compared, r.consider) {
		return
	}
	r.inOrder(rest, func(j int) bool { return r.consider(j, nil) })
}

// consider moves a job if that is worth while. It is false if the round is over.
func (r *Round) consider(j int, p picker) bool {
	if r.config.MostMovesRound > 0 && r.record.Moves >= r.config.MostMovesRound {
		return false
	}
	r.record.Picked++
	own := r.jobs[j].Site
	if !r.exact(j, own) {
		r.query(j, own, true)
		if !r.ask() {
			return false
		}
	}
	to, ok := r.best(j, true)
	if !ok {
		return false
	}
	present := r.ect(j, own)
	if to < 0 || present >= batch.Forever || r.ect(j, to) >= batch.Forever {
		return true
	}
	gain, least := present-r.ect(j, to), r.needed(j, own, to)
	if gain < least {
		return true
	}
	past := r.jobs[j].Past
	past.Moves++
	if !r.do(Step{Kind: Move, Job: j, From: own, To: to, Gain: gain, Least: least, Past: past}) {
		return false
	}
	if r.step.Failed {
		r.record.Failed++
	} else {
		r.record.Moves++
		r.record.Gain += gain
	}
	r.est.drop(j)
	return r.left(own, to, p)
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

// left says that a job has gone from one site to another, for those that remain.
// Others move up at the first, and perhaps further than into its place: where a plan
// could be better is often found only when it changes. So all that are compared are
// asked about anew there. It is false if the round is broken off.
func (r *Round) left(from, to int, p picker) bool {
	r.est.emptier(from)
	if r.step.Failed { // nobody knows what was done
		r.est.emptier(to)
	} else {
		r.est.fuller(to)
		for _, j := range r.there(to) {
			if r.jobs[j].Walltime > 0 { // it keeps what it was promised
				r.est.keep(&r.est.standing[j], to)
			}
		}
	}
	if p == nil {
		return true
	}
	r.again = r.again[:0]
	r.askAgain(from, true)
	r.askAgain(to, r.step.Failed)
	if !r.ask() {
		return false
	}
	for _, a := range r.again {
		p.changed(a.job, a.site)
	}
	return true
}

// again is a question that is asked again.
type again struct{ job, site int }

// askAgain asks about what may be less than it was at a site: jobs that stand there,
// and all others unless it is fuller.
func (r *Round) askAgain(s int, others bool) {
	for _, j := range r.there(s) {
		if !r.est.exact(r.est.standing[j], s) {
			r.query(int(j), s, true)
			r.again = append(r.again, again{int(j), s})
		}
	}
	if !others {
		return
	}
	for _, j := range r.est.live {
		if s != r.jobs[j].Site || r.guards(int(j)) >= 0 {
			r.query(int(j), s, false)
			r.again = append(r.again, again{int(j), s})
		}
	}
}

// there returns the jobs that have not been picked at a site.
func (r *Round) there(site int) []int32 {
	kept := r.est.there[site][:0]
	for _, j := range r.est.there[site] {
		if !r.done[j] {
			kept = append(kept, j)
		}
	}
	r.est.there[site] = kept
	return kept
}
