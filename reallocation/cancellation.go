package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// allCancellation holds the waiting jobs and puts each where it is completed
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

// hold notes what each job has and takes all out of the plans but those that have
// been put back too often.
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

// put puts a held job where it is completed first, or back where nobody takes it. It
// is false if the round is broken off.
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

// back gives a held job its place again. It is false if the round is broken off.
func (r *Round) back(j int) bool {
	own := r.jobs[j].Site
	if !r.do(Step{Kind: Back, Job: j, From: own, To: own, Past: r.jobs[j].Past}) {
		return false
	}
	r.record.Kept++
	r.est.fuller(own)
	return true
}
