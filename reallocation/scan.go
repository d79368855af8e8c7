package reallocation

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// scan is the picker for keys that can shrink while sites fill: all keys are exact before
// a job is picked. Only the keys of jobs with a changed best or second best site are
// recomputed.
type scan struct {
	round  *Round
	heap   heap
	jobs   int // that remain
	chains []greatest
	stale  []int
	fresh  []bool    // by job: whether it is not in stale
	on     [][]int32 // by site: jobs with keys that depend on it, or did
	most   []uint64  // by job: the largest value that its key depends on
	seen   []uint64
	free   bool // whether jobs could still move at the last look
}

func newScan(r *Round, jobs []int) (*scan, bool) {
	s := &scan{
		round: r, heap: newHeap(len(r.jobs)), jobs: len(jobs), fresh: make([]bool, len(r.jobs)),
		most: make([]uint64, len(r.jobs)),
		on:   make([][]int32, r.sites), seen: make([]uint64, r.sites), free: true,
	}
	active := s.chain(jobs)
	for _, j := range active {
		s.take(j)
	}
	copy(s.seen, r.est.version)
	return s, r.askEach(active, r.queryAll)
}

// take adds a job without a known key.
func (s *scan) take(j int) {
	s.heap.set(j, batch.Forever, j)
	s.stale = append(s.stale, j)
}

func (s *scan) left() int { return s.jobs }

func (s *scan) next() (int, bool) {
	s.look()
	for found := true; found; {
		for len(s.stale) > 0 {
			if s.renew(); !s.round.ask() {
				return 0, false
			}
		}
		var ok bool
		if found, ok = s.activate(); !ok {
			return 0, false
		}
	}
	j := int(s.heap.entries[0].id)
	s.heap.remove(j)
	s.jobs--
	s.round.done[j] = true
	return j, true
}

// look finds the jobs with keys that depend on the change.
func (s *scan) look() {
	r := s.round
	if c := r.config.MostMovesRound; s.free && c > 0 && r.record.Moves >= c {
		s.free = false
		s.refresh()
	}
	for site, v := range r.est.version {
		if s.seen[site] == v {
			continue
		}
		s.seen[site] = v
		for _, j := range s.on[site] {
			s.spoil(int(j))
		}
		s.on[site] = s.on[site][:0]
	}
}

func (s *scan) spoil(j int) {
	if s.fresh[j] && s.heap.at[j] >= 0 {
		s.fresh[j] = false
		s.stale = append(s.stale, j)
	}
}

// renew updates the keys of stale jobs, and adds the questions that the others need.
func (s *scan) renew() {
	r := s.round
	ask := s.stale[:0]
	for _, j := range s.stale {
		p := r.least(j, false)
		asks := false
		for k, site := range [2]int{p.first, p.second} {
			if site < 0 || k == 1 && r.config.Heuristic != Sufferage {
				continue
			}
			if !r.exact(j, site) {
				r.query(j, site, r.standing && site == r.jobs[j].Site)
				asks = true
			} else if !asks {
				s.on[site] = append(s.on[site], int32(j))
			}
		}
		if asks {
			ask = append(ask, j)
			continue
		}
		s.fresh[j], s.most[j] = true, p.value[0]
		if r.config.Heuristic == Sufferage {
			s.most[j] = p.value[1]
		}
		s.heap.set(j, s.key(&p), j)
	}
	s.stale = ask
}

// key returns the negative of the value to maximize.
func (s *scan) key(p *twoBest) batch.Duration {
	switch {
	case s.round.config.Heuristic == MaxMin:
		return -duration(p.value[0])
	case p.second < 0 || p.value[1] == never:
		return -batch.Forever
	}
	return duration(p.value[0]) - duration(p.value[1])
}

func (s *scan) changed(j, site int) {
	if s.fresh[j] && s.round.value(j, site) <= s.most[j] {
		s.spoil(j)
	}
}

func (s *scan) refresh() {
	for _, e := range s.heap.entries {
		s.spoil(int(e.id))
	}
}

// greatest is a chain of jobs that are alike, the largest first. Under all-cancellation
// the jobs after one complete no later than it, so MaxMin asks only about the first ones.
type greatest struct {
	jobs   []int32
	oldest []int32 // by position: the job submitted first, from there on
	next   int     // index of the first job that was not asked about
}

// chain builds the chains, and returns the jobs to ask about now.
func (s *scan) chain(jobs []int) []int {
	r := s.round
	if r.standing || r.config.Heuristic != MaxMin {
		return jobs
	}
	follows := make([]bool, len(r.jobs))
	for _, kind := range r.kinds(jobs) {
		slices.SortFunc(kind, func(x, y int32) int {
			return cmp.Or(cmp.Compare(r.jobs[y].Size, r.jobs[x].Size), int(x-y))
		})
		for _, j := range kind[1:] {
			follows[j] = true
		}
		s.chains = append(s.chains, greatest{jobs: kind, oldest: oldest(kind), next: 1})
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j int) bool { return follows[j] })
}

// activate asks about the next job of a chain if the one before it was picked, or if that
// one ties with the top and the next could tie too and was submitted earlier. found
// reports whether there are such jobs.
func (s *scan) activate() (found, ok bool) {
	top := entry{tie: -1}
	if len(s.heap.entries) > 0 {
		top = s.heap.entries[0]
	}
	for i := range s.chains {
		c := &s.chains[i]
		if c.next == len(c.jobs) {
			continue
		}
		at := s.heap.at[c.jobs[c.next-1]]
		if at >= 0 && (s.heap.entries[at].key != top.key || c.oldest[c.next] > top.tie) {
			continue
		}
		j := int(c.jobs[c.next])
		c.next++
		s.take(j)
		s.round.queryAll(j)
		found = true
	}
	return found, s.round.ask()
}
