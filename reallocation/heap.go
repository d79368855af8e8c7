package reallocation

import "github.com/seed-9b8f70bb/drover/batch"

// entry is something with a key, or a bound of it.
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

// heap has the least entry on top, and knows where each id is.
type heap struct {
	entries []entry
	at      []int32 // by id; -1 is not there
}

func newHeap(ids int) heap {
	h := heap{at: make([]int32, ids)}
	for i := range h.at {
		h.at[i] = -1
	}
	return h
}

// set gives an id its key, and takes it in if it is not there.
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
