package reallocation

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// regular moves waiting jobs one by one.
func (r *Round) regular() {
	var movable []int
	for j := range r.jobs {
		if r.mayLeave(j) {
			movable = append(movable, j)
		}
	}
	compared, rest := r.window(movable)
	if r.config.Heuristic != MCT { // jobs outside the window are ignored
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

// consider moves a job if the gain is large enough. It returns false if the round is over.
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

// needed returns the minimum gain of a move.
func (r *Round) needed(j, from, to int) batch.Duration {
	need := max(r.config.LeastGain, batch.Microsecond)
	if r.transfer != nil {
		if _, known := r.transfer(j, from, to); known {
			return need
		}
	}
	return max(need, r.config.Threshold)
}

// left updates the answers after a job went from one site to another. At the site that it
// left, other jobs move up, perhaps further than into its slot: a plan often improves only
// when it is recomputed. So all compared jobs are asked about again there. It returns
// false if the round is broken off.
func (r *Round) left(from, to int, p picker) bool {
	r.est.emptier(from)
	if r.step.Failed { // it is not known what was done
		r.est.emptier(to)
	} else {
		r.est.fuller(to)
		for _, j := range r.there(to) {
			if r.jobs[j].Walltime > 0 { // it keeps its promised slot
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

// again is a repeated question.
type again struct{ job, site int }

// askAgain repeats the questions with answers that can have become smaller at a site: about
// the jobs that wait there and, if others is set, about all other jobs.
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

// there returns the jobs of a site that have not been picked.
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

// allCancellation holds the waiting jobs and puts each at the site that completes it
// first.
func (r *Round) allCancellation() {
	held, ok := r.hold()
	if !ok {
		return
	}
	r.bias = min(uint64(r.config.LeastGain), never)
	compared, rest := r.window(held)
	if !r.pick(compared, func(j int, _ picker) bool { return r.put(j) }) {
		return
	}
	r.inOrder(rest, r.put)
}

// hold records each job's present ECT and takes the jobs out of the plans, except those
// that rounds have delayed too often.
func (r *Round) hold() ([]int, bool) {
	var list []int
	for j := range r.jobs {
		if c := r.config.Patience; c != Starve && r.jobs[j].Past.Later > c {
			r.record.Kept++
			continue
		}
		list = append(list, j)
	}
	if !r.askEach(list, func(j int) { r.query(j, r.jobs[j].Site, true) }) {
		return nil, false
	}
	waiting := list[:0]
	for _, j := range list {
		if r.present[j] < batch.Forever {
			waiting = append(waiting, j)
		}
	}
	if len(waiting) == 0 {
		return nil, false
	}
	if !r.do(Step{Kind: Hold, Jobs: waiting, Refused: make([]bool, len(waiting))}) {
		return nil, false
	}
	held := waiting[:0]
	for i, refused := range r.step.Refused {
		if !refused {
			held = append(held, waiting[i])
		}
	}
	r.record.Held = len(held)
	return held, true
}

// put puts a held job at the site that completes it first, or back if no site takes it. It
// returns false if the round is broken off.
func (r *Round) put(j int) bool {
	r.record.Picked++
	own := r.jobs[j].Site
	to, ok := r.best(j, false)
	if !ok {
		return false
	}
	ect := r.ect(j, to)
	if ect >= batch.Forever {
		return r.back(j)
	}
	past, least := r.jobs[j].Past, batch.Duration(0)
	if to != own {
		past.Moves++
		least = r.config.LeastGain
	}
	later := ect > r.present[j]
	if later {
		past.Later++
	}
	if !r.do(Step{Kind: Put, Job: j, From: own, To: to, Gain: r.present[j] - ect, Least: least, Past: past}) {
		return false
	}
	if r.step.Failed {
		r.record.Failed++
		r.est.emptier(to)
		return true
	}
	r.est.fuller(to)
	if later {
		r.record.Later++
	}
	if to != own {
		r.record.Moves++
		r.record.Gain += r.present[j] - ect
	}
	return true
}

// back returns a held job to its slot. It returns false if the round is broken off.
func (r *Round) back(j int) bool {
	own := r.jobs[j].Site
	if !r.do(Step{Kind: Back, Job: j, From: own, To: own, Past: r.jobs[j].Past}) {
		return false
	}
	r.record.Kept++
	r.est.fuller(own)
	return true
}

// leastAhead is the minimum number of jobs to ask about at once.
const leastAhead = 16

// inOrder takes jobs in order of submission. It asks all sites about some jobs ahead. The
// number adapts: if plans change before the turn of these jobs comes, too many questions
// have to be repeated. It ends when take returns false.
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
