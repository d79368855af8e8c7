package site

import (
	"fmt"
	"unique"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Submission hands a request over.
type Submission struct {
	ID       batch.JobID // see CheckID
	Request  *Request
	Decision []byte // opaque
	// Told is what others say of the jobs that it is to come after: of those that
	// are not here. One that is neither here nor told of is nowhere.
	Told []Told
}

// Submit accepts a request as a job: it is tuned anew and queued. The same
// submission again gets the job as it is now. The error is a *problem.Problem, for
// another request under the same ID with problem.JobConflict, for one that was
// withdrawn with problem.Withdrawn, or ErrNoPlan; nothing is kept then.
func (s *Site) Submit(now batch.Time, sub Submission, planner Planner) (Job, error) {
	print := sub.Request.fingerprint()
	if known := s.book.byID[sub.ID]; known != nil {
		switch {
		case known.State == Absent:
			return Job{}, &problem.Problem{
				Reason: problem.Withdrawn, Field: "job_id", Accepted: "another server, or a new ID",
				Message: fmt.Sprintf("job %s was withdrawn here", sub.ID),
			}
		case known.fingerprint != print:
			return Job{}, &problem.Problem{
				Reason: problem.JobConflict, Field: "job_id", Accepted: "an ID of its own for each request",
				Message: fmt.Sprintf("job %s was submitted with another request", sub.ID),
			}
		}
		return *known, nil
	}
	if s.draining {
		return Job{}, s.drains()
	}
	awaits, err := s.awaited(sub.Request, sub.Told)
	if err != nil {
		return Job{}, err
	}
	j := &Job{ID: sub.ID, Attempt: s.attemptAfter(sub.ID, 0, 0), Submitted: now, fingerprint: print}
	if err := s.admit(now, j, &Dossier{Request: *sub.Request, Decision: sub.Decision}, planner); err != nil {
		return Job{}, err
	}
	s.book.add(j)
	if len(awaits) > 0 {
		j.Needs.After = true
		s.change(j, func() { j.State = Held })
		s.await(j, awaits)
		s.hold(j)
		return *j, nil
	}
	s.change(j, func() { j.State = Waiting })
	s.plan(batch.CmdSubmit, j)
	if j.Needs.Agreed != nil {
		s.fx.Plans[len(s.fx.Plans)-1].Promise = true
		s.agreements.Accepted++
	}
	return *j, nil
}

// admit tunes a request and fills in what the job needs of it. A job that is
// known already is changed only when there is no error.
func (s *Site) admit(now batch.Time, j *Job, d *Dossier, planner Planner) error {
	s.scratch.shapes = s.scratch.shapes[:0]
	quote, err := s.quote(now, Question{Request: &d.Request}, &s.scratch.job, planner)
	if err != nil {
		return err
	}
	spec := &s.scratch.job
	j.Kept, j.Dossier, j.fresh = true, d, true
	j.Service, j.Owner = intern(d.Request.Service), intern(d.Request.Owner)
	j.Estimate, j.Shape = quote, quote.Shape
	j.Started, j.Ended = batch.Never, batch.Never
	j.Needs = &Needs{
		Origin: spec.Origin, Memory: spec.Memory, CPU: spec.CPU, Licenses: spec.Licenses,
		EarliestStart: spec.EarliestStart, Deadline: spec.Deadline, InputSite: spec.Site, Input: spec.Input, Reference: spec.Reference, Resident: spec.Resident,
		Restartable: s.restartable(&d.Request), Agreed: s.agreed(&d.Request), Into: d.Request.Into, Bound: s.bound(&d.Request), Retries: retries(&d.Request),
	}
	if j.Needs.Agreed != nil {
		j.agreement = AgreedOpen
	}
	return nil
}

// restartable says whether a request may be executed twice: because it says so,
// or its service does.
func (s *Site) restartable(r *Request) bool {
	if s.config.Catalogue == nil || r.Idempotent {
		return r.Idempotent
	}
	service, err := s.config.Catalogue.Service(r.Service)
	return err == nil && service.Restartable
}

// intern returns the one copy of a word that many jobs have.
func intern(word string) string { return unique.Make(word).Value() }

// Withdraw makes sure that a job which a client has sent here without being heard
// is never accepted by Submit any more, and says so; a move may still bring it.
// False means that the site has accepted it before, and the job is as it is.
func (s *Site) Withdraw(now batch.Time, id batch.JobID) (withdrawn bool, job Job) {
	j := s.book.byID[id]
	switch {
	case j == nil:
		j = &Job{ID: id, Submitted: now, Started: batch.Never, Ended: batch.Never}
		s.book.add(j)
	case j.Withdrawn: // whatever a move has brought since
		return true, *j
	case j.State != Absent:
		return false, *j
	}
	s.change(j, func() { j.Withdrawn = true })
	return true, *j
}
