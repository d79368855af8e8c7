package site

import (
	"cmp"
	"fmt"
	"unique"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Submission is a request with its ID.
type Submission struct {
	ID       batch.JobID // see CheckID
	Request  *Request
	Decision []byte // opaque
	// Remote has the states of the dependencies that are not at this site. A dependency that is
	// neither here nor listed does not exist.
	Remote []JobStatus
}

// Submit tunes a request again, accepts it as a job and queues it. A repeated submission returns
// the job as it is now. The error is a *problem.Problem, with problem.JobConflict for another
// request under the same ID and problem.Withdrawn for a withdrawn job, or ErrNoPlan; then nothing
// is kept.
func (s *Site) Submit(now batch.Time, sub Submission, planner Planner) (Job, error) {
	digest := sub.Request.fingerprint()
	if known := s.book.byID[sub.ID]; known != nil {
		switch {
		case known.State == Absent:
			return Job{}, &problem.Problem{
				Reason: problem.Withdrawn, Field: "job_id", Accepted: "another server, or a new ID",
				Message: fmt.Sprintf("job %s was withdrawn here", sub.ID),
			}
		case known.fingerprint != digest:
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
	awaits, err := s.openDependencies(sub.Request, sub.Remote)
	if err != nil {
		return Job{}, err
	}
	j := &Job{ID: sub.ID, Attempt: s.attemptAfter(sub.ID, 0, 0), Submitted: now, fingerprint: digest}
	if err := s.admit(now, j, &Dossier{Request: *sub.Request, Decision: sub.Decision}, planner); err != nil {
		return Job{}, err
	}
	s.book.add(j)
	if len(awaits) > 0 {
		j.Needs.After = true
		s.change(j, func() { j.State = Held })
		s.setAwaits(j, awaits)
		s.holdForDependencies(j)
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

// admit tunes a request and fills in the job. It does not change a known job if it returns an
// error.
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
	j.Needs = needsOf(spec)
	j.Needs.Restartable, j.Needs.Bound = s.restartable(&d.Request), s.bound(&d.Request)
	j.Needs.Agreed, j.Needs.Into, j.Needs.Retries = s.agreed(&d.Request), d.Request.Into, retries(&d.Request)
	if j.Needs.Agreed != nil {
		j.agreement = AgreedOpen
	}
	return nil
}

// restartable reports whether a request can be executed twice, because the request or its service
// says so.
func (s *Site) restartable(r *Request) bool {
	if s.config.Catalogue == nil || r.Idempotent {
		return r.Idempotent
	}
	service, err := s.config.Catalogue.Service(r.Service)
	return err == nil && service.Restartable
}

// intern returns the shared copy of a word that many jobs contain.
func intern(word string) string { return unique.Make(word).Value() }

// Withdraw makes Submit reject a job from now on, for a client that got no answer to its
// submission. A move can still bring the job. It returns false and the job if the site has already
// accepted it.
func (s *Site) Withdraw(now batch.Time, id batch.JobID) (withdrawn bool, job Job) {
	j := s.book.byID[id]
	switch {
	case j == nil:
		j = &Job{ID: id, Submitted: now, Started: batch.Never, Ended: batch.Never}
		s.book.add(j)
	case j.Withdrawn: // a move may have brought it since
		return true, *j
	case j.State != Absent:
		return false, *j
	}
	s.change(j, func() { j.Withdrawn = true })
	return true, *j
}

// Cancel ends a job. The returned job is the answer if its state is final, or Cancelling, whose
// outcome follows. In other states the cancel is recorded and the caller must ask again: here for a
// job that is Yielding, at this site for one that is Incoming, and at the other site for one that
// is Gone.
//
// A repeated cancel changes nothing, nor does a cancel of a job that has ended.
func (s *Site) Cancel(now batch.Time, id batch.JobID) (Job, error) {
	j := s.book.byID[id]
	if j == nil || j.State == Absent {
		return Job{}, unknownJob(id)
	}
	if next(j.State, OnCancel) == noState {
		return *j, &TransitionError{Job: id, State: j.State, Event: OnCancel}
	}
	switch j.State {
	case Incoming, Yielding:
		if !j.Cancel {
			s.change(j, func() { j.Cancel = true })
		}
	case Starting, Running:
		s.kill(j)
	case Cancelling:
		if j.busy { // a restart of the batch system may have lost the command
			s.command(batch.CmdCancel, j.Key())
		}
	case Waiting, Held, Moving:
		if len(j.Awaits()) > 0 { // the batch system cannot start it
			s.setAwaits(j, nil)
			s.cancelled(now, j, "")
			break
		}
		s.endRoundAndMove(now, j, "it was cancelled")
		s.change(j, func() { j.State, j.Cancel = Cancelling, true })
		s.claim(j)
	}
	return *j, nil
}

// kill cancels a job that was launched.
func (s *Site) kill(j *Job) {
	s.change(j, func() { j.State, j.Cancel = Cancelling, true })
	s.command(batch.CmdCancel, j.Key())
}

// cancelled ends a job that provably never started. why is "" for a cancel by a user.
func (s *Site) cancelled(now batch.Time, j *Job, why string) {
	why = cmp.Or(why, "cancelled before it started")
	s.change(j, func() {
		j.State, j.Cancel, j.busy = Cancelled, false, false
		j.Ended = now
		j.run().Outcome = batch.Outcome{End: batch.EndCancelled, Reason: why}
	})
	s.book.load.Ended++
	s.settleAgreement(j)
	s.arm(j, batch.Never)
	s.command(batch.CmdCancel, j.Key())
	s.notifyDependents(now, JobStatus{j.ID, Cancelled})
}

// Forget drops the dossier and the files of a job that has ended, so that a site's memory and disk
// stay bounded. A tombstone remains, so that a repeated submission cannot bring the job back. The
// error is a *problem.Problem if the job is unknown, has not ended, or moved and the other site has
// not confirmed it.
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

// forget drops everything that a tombstone does not need.
func (j *Job) forget() {
	j.Kept, j.Dossier, j.Needs, j.Run, j.Past, j.Measured, j.fresh = false, nil, nil, nil, nil, nil, false
	j.Estimate = Quote{}
	if j.Transit != nil && j.State != Gone && j.State != Absent {
		j.transit().Moves = nil
	}
}
