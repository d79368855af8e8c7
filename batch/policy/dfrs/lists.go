package dfrs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// rank sorts a list by descending priority into p.ranks and into the list itself, so that
// it is nearly sorted next time.
func (p *Policy) rank(now batch.Time, list *[]batch.Handle) {
	p.ranks = p.ranks[:0]
	for _, h := range *list {
		j := &p.jobs[h]
		p.ranks = append(p.ranks, ranked{j.key(now), j.seq, h})
	}
	slices.SortFunc(p.ranks, ranked.compare)
	for i, r := range p.ranks {
		(*list)[i] = r.job
		p.jobs[r.job].pos = int32(i)
	}
}

// wait adds a job, which is in no list, to the waiting ones.
func (p *Policy) wait(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	j.state = waiting
	if j.virtualAt(now) > 0 {
		j.pos = int32(len(p.resting))
		p.resting = append(p.resting, h)
		return
	}
	j.pos = -1
	p.fresh = slices.Insert(p.fresh, p.findFresh(j), h)
}

// findFresh returns the position of a job in p.fresh, or where it would be.
func (p *Policy) findFresh(j *job) int {
	if n := len(p.fresh); n == 0 || p.jobs[p.fresh[n-1]].seq < j.seq {
		return n
	}
	at, _ := slices.BinarySearchFunc(p.fresh, j.seq, func(h batch.Handle, seq int64) int {
		return cmp.Compare(p.jobs[h].seq, seq)
	})
	return at
}

// unwait removes a waiting job from its list.
func (p *Policy) unwait(j *job) {
	if j.pos >= 0 {
		p.drop(&p.resting, j.pos)
		return
	}
	at := p.findFresh(j)
	p.fresh = slices.Delete(p.fresh, at, at+1)
}

// drop removes an element from a list of jobs that store their positions.
func (p *Policy) drop(list *[]batch.Handle, pos int32) {
	l := *list
	last := l[len(l)-1]
	l[pos] = last
	p.jobs[last].pos = pos
	*list = l[:len(l)-1]
}

// place gives a waiting job a target.
func (p *Policy) place(h batch.Handle, target []place) {
	j := &p.jobs[h]
	p.unwait(j)
	j.state, j.target = placed, target
	j.pos = int32(len(p.placed))
	p.placed = append(p.placed, h)
	p.occupy(j, 1)
	p.look(h)
}

// unplace removes a job's target; the job waits.
func (p *Policy) unplace(now batch.Time, h batch.Handle) {
	p.displace(&p.jobs[h])
	p.wait(now, h)
	p.look(h)
}

// displace removes the target of a placed job and leaves the job in no list.
func (p *Policy) displace(j *job) {
	p.occupy(j, -1)
	p.drop(&p.placed, j.pos)
	j.target = nil
}

// look marks a job that may not be at its target.
func (p *Policy) look(h batch.Handle) {
	if j := &p.jobs[h]; !j.pending {
		j.pending = true
		p.pending = append(p.pending, h)
	}
}

// come makes a job wait to be mapped like a submitted one, now or at its earliest start.
func (p *Policy) come(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	if j.spec.EarliestStart > now {
		j.state = parked
		at, _ := slices.BinarySearchFunc(p.parked, h, func(a, b batch.Handle) int {
			x, y := &p.jobs[a], &p.jobs[b]
			return cmp.Or(cmp.Compare(x.spec.EarliestStart, y.spec.EarliestStart), cmp.Compare(x.seq, y.seq))
		})
		p.parked = slices.Insert(p.parked, at, h)
		j.released = j.spec.EarliestStart
		return
	}
	p.wait(now, h)
	p.arrives(h)
}

// arrives schedules a waiting job for mapping in the next pass.
func (p *Policy) arrives(h batch.Handle) {
	if j := &p.jobs[h]; !j.arriving {
		j.arriving = true
		p.arrived = append(p.arrived, h)
	}
}

// unpark admits the jobs past their earliest start.
func (p *Policy) unpark(now batch.Time) {
	for len(p.parked) > 0 && p.jobs[p.parked[0]].spec.EarliestStart <= now {
		h := p.parked[0]
		p.parked = slices.Delete(p.parked, 0, 1)
		p.wait(now, h)
		p.arrives(h)
	}
}

// out removes a job that does not run from all lists.
func (p *Policy) out(h batch.Handle) {
	j := &p.jobs[h]
	if j.running || len(j.gone) > 0 {
		panic(fmt.Sprintf("dfrs: job %d runs or leaves", h))
	}
	switch j.state {
	case waiting:
		p.unwait(j)
	case placed:
		p.displace(j)
		p.freed = true
	case parked:
		at := slices.Index(p.parked, h)
		p.parked = slices.Delete(p.parked, at, at+1)
	case absent:
		panic(fmt.Sprintf("dfrs: unknown job %d", h))
	}
	p.forgetArrival(h)
	j.state = held
}

// forgetArrival removes a job from the list of arrivals.
func (p *Policy) forgetArrival(h batch.Handle) {
	if j := &p.jobs[h]; j.arriving {
		j.arriving = false
		at := slices.Index(p.arrived, h)
		p.arrived = slices.Delete(p.arrived, at, at+1)
	}
	if j := &p.jobs[h]; j.pending {
		j.pending = false
		at := slices.Index(p.pending, h)
		p.pending = slices.Delete(p.pending, at, at+1)
	}
}
