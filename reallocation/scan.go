package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// scan is the picker of keys that may fall while sites fill: all keys are exact
// before a job is picked. Only those of jobs whose best or second best site has
// changed are looked at again.
type scan struct {
	round  *Round
	heap   heap
	jobs   int // that are left
	chains []greatest
	stale  []int
	fresh  []bool    // by job: not in stale
	on     [][]int32 // by site: jobs whose keys hang on it, and some that did
	most   []uint64  // by job: the greatest value on which its key hangs
	seen   []uint64
	free   bool // whether jobs could move when they were looked at
}

func newScan(r *Round, jobs []int) (*scan, bool) {
	s := &scan{
		round: r, heap: newHeap(len(r.jobs)), jobs: len(jobs), fresh: make([]bool, len(r.jobs)), most: make([]uint64, len(r.jobs)),
		on: make([][]int32, r.sites), seen: make([]uint64, r.sites), free: true,
	}
	active := s.chain(jobs)
	for _, j := range active {
		s.take(j)
	}
	copy(s.seen, r.est.version)
	return s, r.askEach(active, r.queryAll)
}

// take takes a job in, of which the key is not known yet.
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

// look finds out whose keys hang on what has changed.
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

// renew brings keys up to date where nothing has to be asked for it.
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

// key is the greatest's negative.
func (s *scan) key(p *places) batch.Duration {
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
