package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// word returns what is known of a job at a site: in a regular round, of a job at its
// own site as it stands.
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

// exact says whether that is it.
func (r *Round) exact(j, s int) bool { return r.est.exact(*r.word(j, s), s) }

// value is the bound by which a job's places and jobs are compared: its code.
func (r *Round) value(j, s int) uint64 {
	v := r.est.bound(*r.word(j, s), s)
	if s == r.jobs[j].Site {
		return v
	}
	return biased(v, r.bias)
}

// biased adds the least gain to an ECT elsewhere.
func biased(v, bias uint64) uint64 {
	if v == never {
		return never
	}
	return min(v+bias, never-1)
}

// places is the two sites with the least values; -1 for none.
type places struct {
	first, second int
	value         [2]uint64
}

// add takes in one more site.
func (p *places) add(s int, v uint64) {
	switch {
	case v < p.value[0]:
		p.second, p.value[1] = p.first, p.value[0]
		p.first, p.value[0] = s, v
	case v < p.value[1]:
		p.second, p.value[1] = s, v
	}
}

// least returns the sites with the least and the second least value among those that
// a job may go to. Its own site comes first among equal ones.
func (r *Round) least(j int, elsewhere bool) places {
	p := places{first: -1, second: -1, value: [2]uint64{never + 1, never + 1}}
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

// mayLeave says whether a job may go to another site.
func (r *Round) mayLeave(j int) bool {
	c := &r.config
	return (c.MostMoves == 0 || r.jobs[j].Past.Moves < c.MostMoves) && (c.MostMovesRound == 0 || r.record.Moves < c.MostMovesRound)
}

// best returns where a job is completed first, exactly, asking as often as that
// takes, about twice as many sites each time; -1 if it may go nowhere. It is false
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
