package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Forget drops the record of a job that has ended, so that a site's memory stays
// bounded; the figures of Load keep counting it. Nothing is known of the job
// afterwards: a repeated submission of it would be a new one. The error is a
// *Refusal for an unknown job, and for one that has not ended.
func (s *Site) Forget(id batch.JobID) error {
	j := s.book.byID[id]
	switch {
	case j == nil:
		return unknownJob(id)
	case !j.State.Final():
		return &Refusal{
			Reason: ReasonBadValue, Field: "job_id", Accepted: "a job that has ended",
			Err: fmt.Errorf("job %s is %v", id, j.State),
		}
	}
	delete(s.book.byID, id)
	s.book.order[j.index] = nil
	s.book.holes++
	s.book.compact()
	return nil
}

// compact closes the holes when they are more than half, so that a forgotten
// job costs a constant on average.
func (b *book) compact() {
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
