package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// scan is the picker of keys that may fall while sites fill: all keys are exact
// before a job is picked. Only those of jobs whose best or second best site has
// changed are looked at again.
type scan struct {
	round   *Round
	entries []scanned // in order of submission
}

// scanned is a job with its two best sites, as of versions of their plans.
type scanned struct {
	entry
	site [2]int // -1 for none
	at   [2]uint32
	free bool // whether it could leave its site then
}

func newScan(r *Round, jobs []int) *scan {
	s := &scan{round: r}
	for _, j := range jobs {
		s.entries = append(s.entries, scanned{entry: entry{job: j}, site: [2]int{-1, -1}})
	}
	return s
}

func (s *scan) left() int { return len(s.entries) }

func (s *scan) revise(f func(int) bool) {
	for i := range s.entries {
		if f(s.entries[i].job) {
			s.entries[i].site[0] = -1
		}
	}
}

func (s *scan) order() {}

func (s *scan) next() (int, bool) {
	for s.stale() {
		if !s.round.ask() {
			return 0, false
		}
	}
	best := 0
	for i := range s.entries {
		if s.entries[i].before(s.entries[best].entry) {
			best = i
		}
	}
	j := s.entries[best].job
	s.entries = append(s.entries[:best], s.entries[best+1:]...)
	return j, true
}

// stale brings keys up to date and says whether there are questions to ask first.
func (s *scan) stale() bool {
	r := s.round
	for i := range s.entries {
		e := &s.entries[i]
		if s.valid(e) {
			continue
		}
		e.site[0], e.site[1] = r.least(e.job, false)
		e.free = r.mayLeave(e.job)
		asks := false
		for k := range s.sites() {
			site := e.site[k]
			if site < 0 {
				continue
			}
			if e.at[k] = r.est.version[site]; !r.est.exact(e.job, site) {
				r.query(e.job, site)
				asks = true
			}
		}
		if asks {
			e.site[0] = -1
			continue
		}
		e.key = s.key(e)
	}
	return len(r.open) > 0
}

// sites is how many of the best sites matter.
func (s *scan) sites() int {
	if s.round.config.Heuristic == Sufferage {
		return 2
	}
	return 1
}

func (s *scan) valid(e *scanned) bool {
	if e.site[0] < 0 || e.free != s.round.mayLeave(e.job) {
		return false
	}
	for k := range s.sites() {
		if e.site[k] >= 0 && e.at[k] != s.round.est.version[e.site[k]] {
			return false
		}
	}
	return true
}

// key is the greatest's negative.
func (s *scan) key(e *scanned) batch.Duration {
	best := s.round.value(e.job, e.site[0])
	if s.round.config.Heuristic == MaxMin {
		return -best
	}
	if e.site[1] < 0 {
		return -batch.Forever
	}
	if s.round.est.bound(e.job, e.site[1]) >= batch.Forever {
		return -batch.Forever
	}
	return best - s.round.value(e.job, e.site[1])
}
