package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// picker picks jobs by a heuristic: always the one with the least key, by order of
// submission among equal ones.
type picker interface {
	// next takes a job out. It is false if the round is broken off.
	next() (job int, ok bool)
	left() int
	// revise goes through the jobs; f says of which the key may be less than it was.
	// After it comes order, before the next pick.
	revise(f func(job int) bool)
	order()
}

// picker returns a heuristic's.
func (r *Round) picker(jobs []int) picker {
	if h := r.config.Heuristic; h == MaxMin || h == Sufferage {
		return newScan(r, jobs)
	}
	return newLazy(r, jobs)
}

// entry is a job with its key, or a bound of it.
type entry struct {
	key batch.Duration
	job int
}

func (a entry) before(b entry) bool { return a.key < b.key || a.key == b.key && a.job < b.job }

// lazy is the picker of keys that only grow while sites fill: a heap by what the
// keys were, at least, when they were last looked at.
type lazy struct {
	round   *Round
	heap    []entry
	revised []int // positions in heap
}

func newLazy(r *Round, jobs []int) *lazy {
	l := &lazy{round: r}
	for _, j := range jobs {
		l.heap = append(l.heap, entry{job: j})
	}
	l.revise(func(int) bool { return true })
	l.order()
	return l
}

func (l *lazy) left() int { return len(l.heap) }

func (l *lazy) revise(f func(int) bool) {
	l.revised = l.revised[:0]
	for i := range l.heap {
		if f(l.heap[i].job) {
			l.revised = append(l.revised, i)
		}
	}
}

func (l *lazy) order() {
	if len(l.revised) == 0 {
		return
	}
	for _, i := range l.revised {
		l.heap[i].key = l.key(l.heap[i].job)
	}
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		l.sink(i)
	}
}

// next looks at the job on top until its key is exact and still the least.
func (l *lazy) next() (int, bool) {
	for {
		top := &l.heap[0]
		old := *top
		if _, ok := l.round.best(old.job, l.elsewhere()); !ok {
			return 0, false
		}
		if top.key = l.key(old.job); *top != old {
			l.sink(0)
			if l.heap[0].job != old.job {
				continue
			}
		}
		last := len(l.heap) - 1
		l.heap[0] = l.heap[last]
		l.heap = l.heap[:last]
		l.sink(0)
		return old.job, true
	}
}

// elsewhere says whether the site of the job itself does not count: regular gains
// are of a move.
func (l *lazy) elsewhere() bool {
	return l.round.config.Algorithm == Regular && l.round.config.Heuristic != MinMin
}

// key returns a lower bound of a job's key, the key if its best site's answer is
// exact.
func (l *lazy) key(j int) batch.Duration {
	r := l.round
	s, _ := r.least(j, l.elsewhere())
	if s < 0 {
		return batch.Forever
	}
	ect := r.value(j, s)
	if r.config.Heuristic == MinMin || r.est.bound(j, s) >= batch.Forever {
		return ect
	}
	present := r.present[j]
	if r.config.Algorithm == Regular {
		present = r.est.bound(j, r.jobs[j].Site)
	}
	if r.config.Heuristic == MaxGain {
		return ect - present
	}
	return (ect - present) / batch.Duration(max(r.jobs[j].Width, 1))
}

func (l *lazy) sink(i int) {
	h := l.heap
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h); k++ {
			if h[k].before(h[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
