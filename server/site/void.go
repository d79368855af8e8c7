package site

import "github.com/seed-9b8f70bb/drover/batch"

// stay is one stay of a job at a site: attempts are counted within it.
type stay struct {
	job   batch.JobID
	under uint32 // epoch
}

// Void says that a batch system which has outlived its core has seen an attempt
// that this core knows nothing of: the commit that made it has failed. Its name is
// used up, as the batch system may still have something to tell of it: attempts of
// that stay take higher numbers.
func (s *Site) Void(key batch.Key) {
	if s.voided == nil {
		s.voided = make(map[stay]uint32)
	}
	at := stay{key.Job, key.Epoch}
	s.voided[at] = max(s.voided[at], key.Attempt)
}

// attemptAfter returns the number of the attempt that follows one, 0 for none.
func (s *Site) attemptAfter(id batch.JobID, under, attempt uint32) uint32 {
	return max(attempt, s.voided[stay{id, under}]) + 1
}
