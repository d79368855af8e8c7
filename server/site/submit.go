package site

import (
	"cmp"
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
	j.Needs = needsOf(spec)
	j.Needs.Restartable, j.Needs.Bound = s.restartable(&d.Request), s.bound(&d.Request)
	j.Needs.Agreed, j.Needs.Into, j.Needs.Retries = s.agreed(&d.Request), d.Request.Into, retries(&d.Request)
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

// Cancel ends a job. What it returns is an answer when the state is Cancelling,
// whose outcome comes by itself, or final. Otherwise the wish is recorded and the
// caller has to ask again: of a job that is Yielding here, of one that is
// Incoming at this site, and at the other site of one that is Gone there.
//
// Again, it changes nothing. A job that has ended is left as it is.
func (s *Site) Cancel(now batch.Time, id batch.JobID) (Job, error) {
	j := s.book.byID[id]
	if j == nil || j.State == Absent {
		return Job{}, unknownJob(id)
	}
	if next(j.State, OnCancel) == misfit {
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
		if j.busy { // the order may have been lost with a restart of the batch system
			s.command(batch.CmdCancel, j.Key())
		}
	case Waiting, Held, Moving:
		if len(j.Awaits()) > 0 { // no batch system may start it
			s.await(j, nil)
			s.cancelled(now, j, "")
			break
		}
		s.leave(now, j, "it was cancelled")
		s.change(j, func() { j.State, j.Cancel = Cancelling, true })
		s.claim(j)
	}
	return *j, nil
}

// kill has a job ended that was launched.
func (s *Site) kill(j *Job) {
	s.change(j, func() { j.State, j.Cancel = Cancelling, true })
	s.command(batch.CmdCancel, j.Key())
}

// cancelled ends a job that provably never started. Why is "" for somebody's wish.
func (s *Site) cancelled(now batch.Time, j *Job, why string) {
	why = cmp.Or(why, "cancelled before it started")
	s.change(j, func() {
		j.State, j.Cancel, j.busy = Cancelled, false, false
		j.Ended = now
		j.run().Outcome = batch.Outcome{End: batch.EndCancelled, Reason: why}
	})
	s.book.load.Ended++
	s.judge(j)
	s.arm(j, batch.Never)
	s.command(batch.CmdCancel, j.Key())
	s.tellAfter(now, Told{j.ID, Cancelled})
}

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
