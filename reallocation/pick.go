package reallocation

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// picker picks jobs by a heuristic: the one with the smallest key, ties by order of
// submission.
type picker interface {
	// next removes a job. It returns false if the round is broken off.
	next() (job int, ok bool)
	left() int
	// changed reports that a site's answer about a job has changed, perhaps to a smaller
	// value.
	changed(job, site int)
}

// picker asks all sites about jobs and returns the heuristic's picker. It returns false if
// the round is broken off.
func (r *Round) picker(jobs []int) (picker, bool) {
	if h := r.config.Heuristic; h == MaxMin || h == Sufferage {
		return newScan(r, jobs)
	}
	return newLazy(r, jobs)
}

// pick takes jobs as the heuristic picks them. It returns false if the round is over.
func (r *Round) pick(jobs []int, take func(j int, p picker) bool) bool {
	if len(jobs) == 0 {
		return true
	}
	p, ok := r.picker(jobs)
	for ok && p.left() > 0 {
		var j int
		if j, ok = p.next(); ok {
			ok = take(j, p)
			r.est.drop(j)
		}
	}
	return ok
}

// entry is an ID with its key, or a lower bound of the key.
type entry struct {
	key batch.Duration
	tie int32 // a job: equal keys go by order of submission
	id  int32
}

func (a *entry) before(b *entry) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	if a.tie != b.tie {
		return a.tie < b.tie
	}
	return a.id > b.id
}

// heap has the smallest entry on top, and knows the position of each id.
type heap struct {
	entries []entry
	at      []int32 // by id; -1 for none
}

func newHeap(ids int) heap {
	h := heap{at: make([]int32, ids)}
	for i := range h.at {
		h.at[i] = -1
	}
	return h
}

// set sets an id's key, and adds the id if needed.
func (h *heap) set(id int, key batch.Duration, tie int) {
	e := entry{key: key, tie: int32(tie), id: int32(id)}
	i := int(h.at[id])
	if i < 0 {
		i = len(h.entries)
		h.entries = append(h.entries, e)
		h.up(i, e)
		return
	}
	if e.before(&h.entries[i]) {
		h.up(i, e)
	} else {
		h.down(i, e)
	}
}

func (h *heap) remove(id int) {
	i := int(h.at[id])
	if i < 0 {
		return
	}
	h.at[id] = -1
	last := h.entries[len(h.entries)-1]
	h.entries = h.entries[:len(h.entries)-1]
	if i < len(h.entries) {
		h.at[last.id] = int32(i)
		h.entries[i] = last
		h.set(int(last.id), last.key, int(last.tie))
		if int(h.at[last.id]) == i {
			h.up(i, last)
		}
	}
}

func (h *heap) up(i int, e entry) {
	for i > 0 {
		over := (i - 1) / 2
		if !e.before(&h.entries[over]) {
			break
		}
		h.entries[i] = h.entries[over]
		h.at[h.entries[i].id] = int32(i)
		i = over
	}
	h.entries[i], h.at[e.id] = e, int32(i)
}

func (h *heap) down(i int, e entry) {
	for {
		under := 2*i + 1
		if under >= len(h.entries) {
			break
		}
		if under+1 < len(h.entries) && h.entries[under+1].before(&h.entries[under]) {
			under++
		}
		if !h.entries[under].before(&e) {
			break
		}
		h.entries[i] = h.entries[under]
		h.at[h.entries[i].id] = int32(i)
		i = under
	}
	h.entries[i], h.at[e.id] = e, int32(i)
}
