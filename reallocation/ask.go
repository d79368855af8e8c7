package reallocation

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// query adds a question about a job to the step that is being made. Until it is
// answered the job counts as one that cannot be there, so that whoever looks for the
// least sees what else to ask.
func (r *Round) query(j, s int, standing bool) {
	own, k := r.jobs[j].Site, 2*s
	pending := r.est.made(never, s)
	if standing {
		k++
		r.est.standing[j] = pending
	} else {
		r.row(j)[s] = pending
	}
	q := &r.asked[k]
	if len(q.Jobs) == 0 {
		q.Site, q.Standing = s, standing
		r.open = append(r.open, k)
	}
	var after batch.Duration
	if own != s && r.transfer != nil {
		after, _ = r.transfer(j, own, s)
	}
	q.Jobs, q.After = append(q.Jobs, j), append(q.After, after)
}

// queryAll asks about a job at each site where it may be.
func (r *Round) queryAll(j int) {
	own := r.jobs[j].Site
	r.query(j, own, r.standing)
	if !r.mayLeave(j) {
		return
	}
	for s := range r.sites {
		if s != own {
			r.query(j, s, false)
		}
	}
}

// mostAtOnce is how many jobs a site is asked about in one go when all are to be:
// what is being asked takes three times the room of what is known then.
const mostAtOnce = 1000

// askEach asks about jobs what query says. It is false if the round is broken off.
func (r *Round) askEach(jobs []int, query func(j int)) bool {
	for some := range slices.Chunk(jobs, mostAtOnce) {
		for _, j := range some {
			query(j)
		}
		if !r.ask() {
			return false
		}
	}
	return true
}

// ask yields the questions that have been added, if there are any.
func (r *Round) ask() bool {
	if len(r.open) == 0 {
		return true
	}
	r.questions = r.questions[:0]
	for _, k := range r.open {
		q := &r.asked[k]
		q.Completions = slices.Grow(q.Completions[:0], len(q.Jobs))[:len(q.Jobs)]
		r.questions = append(r.questions, *q)
	}
	ok := r.do(Step{Kind: Ask, Questions: r.questions})
	r.record.Asks++
	for i := range r.questions {
		q := &r.questions[i]
		r.record.Questions++
		r.record.Estimates += int64(len(q.Jobs))
		for k, j := range q.Jobs {
			w := r.est.made(code(q.Completions[k]), q.Site)
			if q.Standing {
				r.est.standing[j] = w
				r.present[j] = duration(uint64(w) >> versionBits)
			} else {
				r.est.rows[j][q.Site] = w
			}
		}
	}
	for _, k := range r.open {
		r.asked[k].Jobs, r.asked[k].After = r.asked[k].Jobs[:0], r.asked[k].After[:0]
	}
	r.open = r.open[:0]
	return ok
}
