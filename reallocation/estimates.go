package reallocation

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// estimates is what sites have said, with the version of the plan from which each
// answer was made. An answer of the present version is exact; an older one is a
// lower bound, down to the floor; below that it says nothing.
type estimates struct {
	sites   int
	ect     []batch.Duration // by job, then site
	at      []uint32
	version []uint32 // by site, from 1
	floor   []uint32
}

// unknown is below all answers, so that whoever looks for the least asks first
// where nothing is known.
const unknown batch.Duration = -1

func newEstimates(jobs, sites int) estimates {
	e := estimates{
		sites: sites, ect: make([]batch.Duration, jobs*sites), at: make([]uint32, jobs*sites),
		version: make([]uint32, sites), floor: make([]uint32, sites),
	}
	for s := range sites {
		e.version[s], e.floor[s] = 1, 1
	}
	return e
}

func (e *estimates) set(job, site int, d batch.Duration) {
	e.ect[job*e.sites+site], e.at[job*e.sites+site] = d, e.version[site]
}

// bound returns a lower bound.
func (e *estimates) bound(job, site int) batch.Duration {
	if i := job*e.sites + site; e.at[i] >= e.floor[site] {
		return e.ect[i]
	}
	return unknown
}

func (e *estimates) exact(job, site int) bool {
	return e.at[job*e.sites+site] == e.version[site]
}

// fuller says that a site has got a job.
func (e *estimates) fuller(site int) { e.version[site]++ }

// emptier says that a job has left a site, or that it is not known what happened.
func (e *estimates) emptier(site int) {
	e.version[site]++
	e.floor[site] = e.version[site]
}

// keep says that the last change of a site's plan did not change what it said.
func (e *estimates) keep(job, site int) {
	if i := job*e.sites + site; e.at[i] == e.version[site]-1 {
		e.at[i]++
	}
}

// lower says that the last change of a site's plan came at or after an instant:
// what is completed by then stays, the rest may be completed as early as that. It
// says whether the answer is less than it was.
func (e *estimates) lower(job, site int, from batch.Duration) bool {
	i := job*e.sites + site
	if e.at[i] < e.floor[site] {
		return false
	}
	if e.ect[i] <= from {
		e.keep(job, site)
		return false
	}
	e.ect[i] = from
	return true
}

// least returns the sites with the least and the second least bound among those
// that a job may go to; -1 for none. Its own site comes first among equal ones.
func (r *Round) least(j int, elsewhere bool) (first, second int) {
	first, second = -1, -1
	var a, b batch.Duration
	own := r.jobs[j].Site
	if !elsewhere {
		first, a = own, r.bound(j, own)
	}
	if !r.mayLeave(j) {
		return first, second
	}
	for s := range r.sites {
		if s == own {
			continue
		}
		switch d := r.bound(j, s) + r.bias; {
		case first < 0 || d < a:
			second, b, first, a = first, a, s, d
		case second < 0 || d < b:
			second, b = s, d
		}
	}
	return first, second
}

// bound returns a lower bound of a job's ECT, at most batch.Forever less the bias.
func (r *Round) bound(j, s int) batch.Duration { return min(r.est.bound(j, s), batch.Forever-r.bias) }

// value is the bound by which a job's places and jobs are compared.
func (r *Round) value(j, s int) batch.Duration {
	if s == r.jobs[j].Site {
		return r.bound(j, s)
	}
	return r.bound(j, s) + r.bias
}

// mayLeave says whether a job may go to another site.
func (r *Round) mayLeave(j int) bool {
	c := &r.config
	return (c.MostMoves == 0 || r.jobs[j].Past.Moves < c.MostMoves) && (c.MostMovesRound == 0 || r.record.Moves < c.MostMovesRound)
}

// query adds a question about a job to the step that is being made. To its own site
// it is about the job as it stands, while standing is set.
func (r *Round) query(j, s int) {
	own := r.jobs[j].Site
	k := 2 * s
	if r.standing && own == s {
		k++
	}
	q := &r.asked[k]
	if len(q.Jobs) == 0 {
		q.Site, q.Standing = s, k%2 == 1
		r.open = append(r.open, k)
	}
	var after batch.Duration
	if own != s && r.transfer != nil {
		after, _ = r.transfer(j, own, s)
	}
	q.Jobs, q.After = append(q.Jobs, j), append(q.After, after)
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
	for i := range r.questions {
		q := &r.questions[i]
		r.record.Questions++
		r.record.Estimates += int64(len(q.Jobs))
		for k, j := range q.Jobs {
			r.est.set(j, q.Site, min(max(q.Completions[k], 0), batch.Forever))
		}
	}
	for _, k := range r.open {
		r.asked[k].Jobs, r.asked[k].After = r.asked[k].Jobs[:0], r.asked[k].After[:0]
	}
	r.open = r.open[:0]
	return ok
}

// best returns where a job is completed first, exactly, asking as often as that
// takes; -1 if it may go nowhere. It is false if the round is broken off.
func (r *Round) best(j int, elsewhere bool) (int, bool) {
	for {
		s, _ := r.least(j, elsewhere)
		if s < 0 || r.est.exact(j, s) {
			return s, true
		}
		if r.query(j, s); !r.ask() {
			return s, false
		}
	}
}
