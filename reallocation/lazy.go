package reallocation

import (
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
)

// lazy is the picker for keys that only grow while sites fill: a heap by lower bounds, as
// of the last look. It has jobs and, for each chain, a guard: a lower bound of the keys of
// all followers, from the answers about the last active job before them.
type lazy struct {
	round   *Round
	heap    heap
	seen    []seen // by id
	jobs    int    // that remain
	touched []int  // jobs with open questions
	aside   []int  // ids removed from the heap until their questions are answered
	// most is how many questions to gather before asking them, asked how many are gathered,
	// and total how many were asked for the next pick.
	most, asked, total int
}

// seen is what an id's key was made from: the site with the smallest value, and the second
// smallest value.
type seen struct {
	site   int32 // or nowhere or unseen
	second uint64
}

const (
	nowhere = -1
	unseen  = -2
)

// leastAsked and mostAsked bound how many questions are gathered.
const leastAsked, mostAsked = 32, 4096

func newLazy(r *Round, jobs []int) (*lazy, bool) {
	if r.config.Heuristic == MinMin {
		r.newAlike(jobs)
	}
	n := len(r.jobs)
	ids := n + len(r.alike.chains)
	l := &lazy{round: r, heap: newHeap(ids), seen: make([]seen, ids), jobs: len(jobs), most: leastAsked}
	ask := func(j int) {
		if !r.follows(j) {
			r.queryAll(j)
		} else if r.standing {
			r.query(j, r.jobs[j].Site, true)
		}
	}
	if !r.askEach(jobs, ask) {
		return nil, false
	}
	for _, j := range jobs {
		if r.standing || !r.follows(j) {
			l.fix(j)
		}
	}
	for c := range r.alike.chains {
		l.fix(n + c)
	}
	return l, true
}

func (l *lazy) left() int { return l.jobs }

// next looks at the top until it is a job with an exact key. It gathers the questions on
// the way, more of them each time.
func (l *lazy) next() (int, bool) {
	r := l.round
	if c := r.config.MostMovesRound; c > 0 && r.record.Moves == c {
		l.refresh()
	}
	l.total = 0
	for {
		top := l.heap.entries[0]
		id := int(top.id)
		if l.seen[id].site == unseen {
			if l.fix(id); l.heap.entries[0] != top {
				continue
			}
		}
		site, standing := l.open(id)
		switch {
		case (site >= 0 || standing) && l.asked < l.most:
			l.query(id, site, standing)
		case l.asked > 0 && l.asked < leastAsked && len(l.heap.entries) > 1:
			l.heap.remove(id) // gather more questions for the same message
			l.aside = append(l.aside, id)
		case l.asked > 0:
			if !l.ask() {
				return 0, false
			}
		case id >= len(r.jobs):
			l.activate(id - len(r.jobs))
		default:
			l.take(id)
			l.most = min(max(leastAsked, l.total/2), mostAsked)
			return id, true
		}
	}
}

// take removes a job.
func (l *lazy) take(j int) {
	r := l.round
	l.heap.remove(j)
	l.jobs--
	r.done[j] = true
	if c := r.alike.of(j); c >= 0 && int32(j) == r.alike.last[c] {
		l.activate(c)
	}
}

// activate advances a chain.
func (l *lazy) activate(c int) {
	r := l.round
	if r.activate(c) {
		l.fix(int(r.alike.last[c]))
	}
	l.fix(len(r.jobs) + c)
}

// job returns the job that an id's questions are about.
func (l *lazy) job(id int) int {
	if n := len(l.round.jobs); id >= n {
		return int(l.round.alike.last[id-n])
	}
	return id
}

// open returns what has to be asked to make an id's key exact: the site, or -1, and
// whether also about the present slot.
func (l *lazy) open(id int) (site int, standing bool) {
	r := l.round
	j, s := l.job(id), int(l.seen[id].site)
	own := r.jobs[j].Site
	if id == j && r.standing {
		standing = (l.elsewhere() || s == own) && !r.est.exact(r.est.standing[j], own)
		if s == own {
			return nowhere, standing
		}
	}
	if s < 0 || r.est.exact(r.row(j)[s], s) {
		return nowhere, standing
	}
	return s, standing
}

// query adds questions. Until they are answered, the key comes from the other answers.
func (l *lazy) query(id, site int, standing bool) {
	r, j := l.round, l.job(id)
	if standing {
		r.query(j, r.jobs[j].Site, true)
		l.asked++
	}
	if site >= 0 {
		r.query(j, site, false)
		l.asked++
	}
	l.touched = append(l.touched, j)
	rest := l.seen[id].second
	l.seen[id] = seen{site: unseen}
	l.heap.set(id, l.key(id, rest), int(l.heap.entries[0].tie))
}

// look returns a lower bound of an id's key.
func (l *lazy) look(id int) batch.Duration {
	r, j := l.round, l.job(id)
	own := r.jobs[j].Site
	var p twoBest
	switch {
	case id == j && r.follows(j): // its guard covers the other sites
		p = twoBest{first: own, value: [2]uint64{r.value(j, own), never}}
	case id != j && r.standing: // its followers can come to its site
		p = r.least(j, true)
		p.add(own, r.est.bound(r.row(j)[own], own))
	default:
		p = r.least(j, l.elsewhere())
	}
	l.seen[id] = seen{site: int32(p.first), second: min(p.value[1], never)}
	return l.key(id, min(p.value[0], never))
}

// elsewhere reports whether the job's own site does not count: gains of regular are those
// of moves.
func (l *lazy) elsewhere() bool { return l.round.standing && l.round.config.Heuristic != MinMin }

// key returns a lower bound of an id's key from a lower bound of its smallest value.
func (l *lazy) key(id int, value uint64) batch.Duration {
	r := l.round
	ect := duration(value)
	if r.config.Heuristic == MinMin || value == never {
		return ect
	}
	if r.standing {
		switch own := r.jobs[id].Site; r.est.bound(r.est.standing[id], own) {
		case 0:
			return math.MinInt64
		case never:
			return batch.Forever
		}
	}
	if r.config.Heuristic == MaxGain {
		return ect - r.present[id]
	}
	return (ect - r.present[id]) / batch.Duration(max(r.jobs[id].Width, 1))
}

// ask asks the gathered questions.
func (l *lazy) ask() bool {
	if !l.round.ask() {
		return false
	}
	l.total += l.asked
	l.asked, l.most = 0, min(2*l.most, mostAsked)
	for _, id := range l.aside {
		l.fix(id)
	}
	for _, j := range l.touched {
		l.answered(j)
	}
	l.touched, l.aside = l.touched[:0], l.aside[:0]
	return true
}

func (l *lazy) answered(j int) {
	l.fix(j)
	if c := l.round.guards(j); c >= 0 {
		l.fix(len(l.round.jobs) + c)
	}
}

// fix updates an id's key.
func (l *lazy) fix(id int) {
	n := len(l.round.jobs)
	if id < n {
		l.heap.set(id, l.look(id), id)
		return
	}
	if oldest, ok := l.round.alike.guarded(id - n); ok {
		l.heap.set(id, l.look(id), oldest)
	} else {
		l.heap.remove(id)
	}
}

// changed looks only at values that have become smaller: the other keys are still bounds.
func (l *lazy) changed(j, site int) {
	r := l.round
	if i := l.heap.at[j]; i >= 0 {
		w := r.est.bound(*r.word(j, site), site)
		if l.elsewhere() || l.key(j, w) <= l.heap.entries[i].key || int(l.seen[j].site) == site {
			l.fix(j)
		}
	}
	if c := r.guards(j); c >= 0 {
		l.fix(len(r.jobs) + c)
	}
}

func (l *lazy) refresh() {
	for id, i := range l.heap.at {
		if i >= 0 {
			l.fix(id)
		}
	}
}
