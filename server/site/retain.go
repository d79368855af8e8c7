package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Forget drops what is kept of a job that has ended, so that a site's memory and
// disk stay bounded. A tombstone remains: the job cannot come back by a repeated
// submission. The error is a *problem.Problem for an unknown job, for one that has not
// ended, and for one that the other site has not confirmed.
func (s *Site) Forget(id batch.JobID) error {
	j := s.book.byID[id]
	switch {
	case j == nil || j.State == Absent:
		return unknownJob(id)
	case !j.State.Final() || j.State == Gone && !j.Transit.Acked:
		return &problem.Problem{
			Reason: problem.BadValue, Field: "job_id", Accepted: "a job that has ended",
			Message: fmt.Sprintf("job %s is %v", id, j.State),
		}
	case !j.Kept:
		return nil
	}
	s.change(j, j.forget)
	s.fx.Discard = append(s.fx.Discard, id)
	return nil
}

// forget drops all that a tombstone does not need.
func (j *Job) forget() {
	j.Kept, j.Dossier, j.Needs, j.Run, j.Past, j.Measured, j.fresh = false, nil, nil, nil, nil, nil, false
	j.Estimate = Quote{}
	if j.Transit != nil && j.State != Gone && j.State != Absent {
		j.transit().Moves = nil
	}
}
