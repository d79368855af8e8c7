package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// answer is what a site has said of a job, in 8 bytes, as a round over 100,000 jobs
// and 300 sites keeps 30 million of them: microseconds from the beginning of the
// round, plus one, in the upper 52 bits, and the version of the site's plan from
// which it was made in the lower 12. Those of the present version are exact; older
// ones are lower bounds, down to the floor; below that they say nothing. The floor
// itself is never a present version, so it marks what is but a bound.
type answer uint64

const (
	versionBits = 12
	versionMask = 1<<versionBits - 1
	// never is the code of batch.Forever. What lies 142 years ahead is never.
	never = 1<<(64-versionBits) - 1
)

// code returns the order of an ECT, from 1; 0 is unknown, which is below all others,
// so that whoever looks for the least asks first where nothing is known.
func code(d batch.Duration) uint64 { return min(uint64(max(d, 0)), never-1) + 1 }

// duration is the other way; unknown is -1.
func duration(code uint64) batch.Duration {
	if code == never {
		return batch.Forever
	}
	return batch.Duration(code) - 1
}

// answers are those of a round.
type answers struct {
	// rows are by job, then by site; a job about which nobody has been asked has none.
	rows [][]answer
	// live are the jobs with rows, and at is where each is among them.
	live, at []int32
	free     [][]answer // of jobs that were done with
	// standing are about jobs at their own sites, as they stand; there has the jobs of
	// each site.
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

// row makes a job's row, if it has none. What is known of one that asks for no more
// bounds it from below.
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

// drop forgets a job's row.
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

// bound returns the code of a lower bound.
func (a *answers) bound(w answer, site int) uint64 {
	if uint64(w&versionMask) < a.floor[site] {
		return 0
	}
	return uint64(w) >> versionBits
}

func (a *answers) exact(w answer, site int) bool { return uint64(w&versionMask) == a.version[site] }

// made returns an answer of the present version.
func (a *answers) made(code uint64, site int) answer {
	return answer(code<<versionBits | a.version[site])
}

// fuller says that a site has got a job.
func (a *answers) fuller(site int) {
	if a.version[site] >= versionMask-2 {
		a.renumber(site)
	}
	a.version[site]++
}

// emptier says that a job has left a site, or that it is not known what happened.
func (a *answers) emptier(site int) {
	a.fuller(site)
	a.floor[site] = a.version[site]
	a.version[site]++
}

// renumber begins a site's versions anew.
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

// keep says that the last change of a site's plan did not change an answer.
func (a *answers) keep(w *answer, site int) {
	if uint64(*w&versionMask) == a.version[site]-1 {
		*w++
	}
}
