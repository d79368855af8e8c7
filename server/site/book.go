package site

import "github.com/seed-9b8f70bb/drover/batch"

// book is all jobs that a site has in memory.
type book struct {
	byID   map[batch.JobID]*Job
	order  []*Job // as they came in; nil where one has left
	holes  int    // of order
	seq    uint64 // the last Order that was given
	serial uint64 // the last Serial that was given
	load   Load
	// awaited are those that wait for a job, by its ID.
	awaited map[batch.JobID]map[*Job]struct{}
	timers  timers
}

// add takes a job in, with an Order of its own or, if it has none, the next one.
func (b *book) add(j *Job) {
	b.serial++
	j.index, j.Serial = int32(len(b.order)), b.serial
	b.byID[j.ID] = j
	b.order = append(b.order, j)
	if j.Order == 0 {
		j.Order = b.next()
	}
	b.seq = max(b.seq, j.Order)
}

func (b *book) next() uint64 {
	b.seq++
	return b.seq
}

// remove forgets a job. Closing the holes when they are more than half makes it
// cost a constant on average.
func (b *book) remove(j *Job) {
	delete(b.byID, j.ID)
	b.order[j.index] = nil
	b.holes++
	if 2*b.holes <= len(b.order) {
		return
	}
	kept := b.order[:0]
	for _, j := range b.order {
		if j != nil {
			j.index = int32(len(kept))
			kept = append(kept, j)
		}
	}
	clear(b.order[len(kept):])
	b.order, b.holes = kept, 0
}
