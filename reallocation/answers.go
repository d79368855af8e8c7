package reallocation

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// answer is a site's answer about a job in 8 bytes, because a round over 100,000 jobs and
// 300 sites keeps 30 million of them: microseconds from the beginning of the round, plus
// one, in the upper 52 bits, and the version of the site's plan in the lower 12. Answers
// of the present version are exact. Older ones are lower bounds, down to the floor; below
// it they are worthless. The floor itself is never a present version, so it marks a mere
// bound.
type answer uint64

const (
	versionBits = 12
	versionMask = 1<<versionBits - 1
	// never is the code of batch.Forever, and of anything later than 142 years.
	never = 1<<(64-versionBits) - 1
)

// code returns an ECT as a comparable number from 1. 0 is unknown and below all others, so
// that a search for the minimum asks first where nothing is known.
func code(d batch.Duration) uint64 { return min(uint64(max(d, 0)), never-1) + 1 }

// duration is the inverse of code; unknown is -1.
func duration(code uint64) batch.Duration {
	if code == never {
		return batch.Forever
	}
	return batch.Duration(code) - 1
}

// answers holds the answers of a round.
type answers struct {
	// rows are by job, then by site; nil for a job that was not asked about.
	rows [][]answer
	// live lists the jobs with rows; at is the index of each job in live.
	live, at []int32
	free     [][]answer // rows of picked jobs, for reuse
	// standing holds the answers about the present slots of jobs; there lists the jobs of each
	// site.
	standing []answer
	there    [][]int32
	version  []uint64 // by site
	floor    []uint64
}

func newAnswers(sites int, jobs []Job) answers {
	a := answers{
		rows: make([][]answer, len(jobs)), at: make([]int32, len(jobs)), standing: make([]answer, len(jobs)),
		there: make([][]int32, sites), version: make([]uint64, sites), floor: make([]uint64, sites),
	}
	for j := range jobs {
		s := jobs[j].Site
		a.there[s] = append(a.there[s], int32(j))
	}
	for s := range sites {
		a.floor[s], a.version[s] = 1, 2
	}
	return a
}

// row returns a job's row, and creates it if needed. The answers about lesser, a smaller
// job that is alike, are its first lower bounds.
func (a *answers) row(job, lesser int) []answer {
	if a.rows[job] != nil {
		return a.rows[job]
	}
	var row []answer
	if n := len(a.free); n > 0 {
		row, a.free = a.free[n-1], a.free[:n-1]
	} else {
		row = make([]answer, len(a.version))
	}
	if lesser < 0 || a.rows[lesser] == nil {
		clear(row)
	} else {
		for s, w := range a.rows[lesser] {
			row[s] = 0
			if uint64(w&versionMask) >= a.floor[s] {
				row[s] = w&^versionMask | answer(a.floor[s])
			}
		}
	}
	a.rows[job], a.at[job] = row, int32(len(a.live))
	a.live = append(a.live, int32(job))
	return row
}

// drop removes a job's row.
func (a *answers) drop(job int) {
	if a.rows[job] == nil {
		return
	}
	a.free = append(a.free, a.rows[job])
	a.rows[job] = nil
	last := a.live[len(a.live)-1]
	a.live[a.at[job]], a.at[last] = last, a.at[job]
	a.live = a.live[:len(a.live)-1]
}

// bound returns an answer's lower bound as a code.
func (a *answers) bound(w answer, site int) uint64 {
	if uint64(w&versionMask) < a.floor[site] {
		return 0
	}
	return uint64(w) >> versionBits
}

func (a *answers) exact(w answer, site int) bool { return uint64(w&versionMask) == a.version[site] }

// made returns an answer with the present version.
func (a *answers) made(code uint64, site int) answer {
	return answer(code<<versionBits | a.version[site])
}

// fuller records that a site got a job.
func (a *answers) fuller(site int) {
	if a.version[site] >= versionMask-2 {
		a.renumber(site)
	}
	a.version[site]++
}

// emptier records that a job left a site, or that it is not known what happened there.
func (a *answers) emptier(site int) {
	a.fuller(site)
	a.floor[site] = a.version[site]
	a.version[site]++
}

// renumber restarts a site's versions.
func (a *answers) renumber(site int) {
	version, floor := a.version[site], a.floor[site]
	a.floor[site], a.version[site] = 1, 2
	renew := func(w *answer) {
		switch at := uint64(*w & versionMask); {
		case at < floor:
			*w = 0
		case at == version:
			*w = *w&^versionMask | 2
		default:
			*w = *w&^versionMask | 1
		}
	}
	for _, j := range a.live {
		renew(&a.rows[j][site])
	}
	for _, j := range a.there[site] {
		renew(&a.standing[j])
	}
}

// keep records that the last change of a site's plan did not change an answer.
func (a *answers) keep(w *answer, site int) {
	if uint64(*w&versionMask) == a.version[site]-1 {
		*w++
	}
}

// word returns the answer about a job at a site; in a regular round, at its own site, the
// answer about its present slot.
func (r *Round) word(j, s int) *answer {
	if r.standing && s == r.jobs[j].Site {
		return &r.est.standing[j]
	}
	return &r.row(j)[s]
}

// row returns a job's row.
func (r *Round) row(j int) []answer {
	if row := r.est.rows[j]; row != nil {
		return row
	}
	return r.est.row(j, r.lesser(j))
}

// ect returns a lower bound of a job's ECT at a site.
func (r *Round) ect(j, s int) batch.Duration { return duration(r.est.bound(*r.word(j, s), s)) }

// exact reports whether ect is exact.
func (r *Round) exact(j, s int) bool { return r.est.exact(*r.word(j, s), s) }

// value returns the code of the bound by which sites and jobs are compared.
func (r *Round) value(j, s int) uint64 {
	v := r.est.bound(*r.word(j, s), s)
	if s == r.jobs[j].Site {
		return v
	}
	return biased(v, r.bias)
}

// biased adds the least gain to an ECT at another site.
func biased(v, bias uint64) uint64 {
	if v == never {
		return never
	}
	return min(v+bias, never-1)
}

// twoBest is the two sites with the smallest values; -1 for none.
type twoBest struct {
	first, second int
	value         [2]uint64
}

// add considers one more site.
func (p *twoBest) add(s int, v uint64) {
	switch {
	case v < p.value[0]:
		p.second, p.value[1] = p.first, p.value[0]
		p.first, p.value[0] = s, v
	case v < p.value[1]:
		p.second, p.value[1] = s, v
	}
}

// least returns the sites with the smallest and second smallest value for a job. Its own
// site comes first among equal ones. elsewhere excludes its own site.
func (r *Round) least(j int, elsewhere bool) twoBest {
	p := twoBest{first: -1, second: -1, value: [2]uint64{never + 1, never + 1}}
	own := r.jobs[j].Site
	if !elsewhere {
		p.first, p.value[0] = own, r.value(j, own)
	}
	if !r.mayLeave(j) {
		return p
	}
	floor, bias := r.est.floor, r.bias
	for s, w := range r.row(j) {
		v := uint64(w) >> versionBits
		if uint64(w&versionMask) < floor[s] {
			v = 0
		}
		if bias > 0 {
			v = biased(v, bias)
		}
		if v < p.value[1] && s != own {
			p.add(s, v)
		}
	}
	return p
}

// mayLeave reports whether a job can go to another site.
func (r *Round) mayLeave(j int) bool {
	c := &r.config
	return (c.MostMoves == 0 || r.jobs[j].Past.Moves < c.MostMoves) &&
		(c.MostMovesRound == 0 || r.record.Moves < c.MostMovesRound)
}

// best returns the site that completes a job first, exactly. It asks as often as needed,
// about twice as many sites each time. It returns -1 if the job can go nowhere, and false
// if the round is broken off.
func (r *Round) best(j int, elsewhere bool) (int, bool) {
	for n := 1; ; n *= 2 {
		for range n {
			p := r.least(j, elsewhere)
			if p.first < 0 {
				return -1, true
			}
			if r.exact(j, p.first) {
				if len(r.open) == 0 {
					return p.first, true
				}
				break
			}
			r.query(j, p.first, r.standing && p.first == r.jobs[j].Site)
		}
		if !r.ask() {
			return -1, false
		}
	}
}
