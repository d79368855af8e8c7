package site

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Job is a request that this site has accepted. The site hands out copies;
// what they point to must not be changed.
type Job struct {
	ID       batch.JobID
	Request  Request
	Values   catalogue.Values // the checked arguments; zero without a catalogue
	Spec     *batch.Job       // what the batch system is told; Spec.Shape is what it got
	State    State
	Epoch    uint32 // move counter
	Attempt  uint32 // counts launches under the epoch
	Decision []byte // why it is here, as the client sent it; passed through

	Submitted batch.Time
	Started   batch.Time // Never before
	Ended     batch.Time // Never before
	Estimate  Quote      // at submission
	Outcome   batch.Outcome
	Nodes     []string // where it runs or ran
	Revision  uint64   // counts changes, from 1

	spec  batch.Job
	index int32 // in submission order
	busy  bool  // holds processors
}

// Key names the job's present attempt to the batch system.
func (j *Job) Key() batch.Key { return batch.Key{Job: j.ID, Epoch: j.Epoch, Attempt: j.Attempt} }

// book is all jobs of a site.
type book struct {
	byID  map[batch.JobID]*Job
	order []*Job // by submission; nil where one was forgotten
	holes int    // of order
	load  Load
}

// Submission hands a request over.
type Submission struct {
	ID       batch.JobID // see CheckID
	Request  *Request
	Decision []byte // opaque
}

// Submit accepts a request as a job: it is tuned anew, and the command tells the
// batch system to queue it; the driver adds what is to be run (Command.Run, from
// Values.Service().Args). The same submission again gets the job as it is now,
// and no command. The error is a *Refusal, for another request under the same ID
// with ReasonJobConflict, or ErrNoPlan; nothing is kept then.
func (s *Site) Submit(now batch.Time, sub Submission, planner Planner) (Job, []batch.Command, error) {
	if known := s.book.byID[sub.ID]; known != nil {
		if !known.Request.equal(sub.Request) {
			return Job{}, nil, &Refusal{
				Reason: ReasonJobConflict, Field: "job_id", Accepted: "an ID of its own for each request",
				Err: fmt.Errorf("job %s was submitted with another request", sub.ID),
			}
		}
		return *known, nil, nil
	}
	j := &Job{
		ID: sub.ID, Request: *sub.Request, State: Waiting, Attempt: 1, Decision: sub.Decision,
		Submitted: now, Started: batch.Never, Ended: batch.Never, Revision: 1, index: int32(len(s.book.order)),
	}
	j.Spec = &j.spec
	s.scratch.shapes = s.scratch.shapes[:0]
	var err error
	j.Estimate, j.Values, err = s.quote(now, Question{Request: &j.Request}, j.Spec, planner)
	if err != nil {
		return Job{}, nil, err
	}
	j.Spec.Shape = j.Estimate.Shape
	s.book.byID[j.ID] = j
	s.book.order = append(s.book.order, j)
	s.book.load.enter(j, s.charge(j))
	return *j, []batch.Command{{Kind: batch.CmdSubmit, Key: j.Key(), Job: j.Spec}}, nil
}

// Starting says that the batch system launches the attempt.
func (s *Site) Starting(now batch.Time, key batch.Key) (Job, error) {
	return s.happen(now, key, OnStarting, nil)
}

// Running says that the attempt has begun to run at now, on these nodes.
func (s *Site) Running(now batch.Time, key batch.Key, nodes []string) (Job, error) {
	return s.happen(now, key, OnRunning, func(j *Job) {
		j.Nodes = slices.Clone(nodes)
	})
}

// Ended says that the attempt ended at now. A batch system's refusal to queue it
// is an end as well: batch.EndStartFailed.
func (s *Site) Ended(now batch.Time, key batch.Key, outcome batch.Outcome) (Job, error) {
	return s.happen(now, key, eventOf(outcome), func(j *Job) {
		j.Outcome = outcome
	})
}

// happen applies an event of the batch system. Errors are a *Refusal for an
// unknown job or attempt and a *TransitionError; both leave the job as it is.
func (s *Site) happen(now batch.Time, key batch.Key, e Event, note func(*Job)) (Job, error) {
	j := s.book.byID[key.Job]
	if j == nil || j.Key() != key {
		return Job{}, unknownJob(key.Job)
	}
	to := next(j.State, e)
	switch {
	case to == 0:
		return *j, &TransitionError{Job: j.ID, State: j.State, Event: e}
	case to == j.State && !(to == Cancelling && !j.heard(e)):
		return *j, nil
	}
	if note != nil {
		note(j)
	}
	busy := j.busy
	j.State = to
	j.Revision++
	switch e {
	case OnStarting:
		j.busy = true
	case OnRunning:
		j.busy = true
		j.Started = now
	default:
		j.busy = false
		j.Ended = now
	}
	s.book.load.change(j, s.charge(j), busy)
	return *j, nil
}

// heard says whether a job that is being cancelled was already known to have
// come so far.
func (j *Job) heard(e Event) bool {
	if e == OnStarting {
		return j.busy
	}
	return j.Started != batch.Never
}

// Cancel ends a job. The state may be Cancelling in the answer: then the end
// comes by Ended. Again, it gives the same command again. A job that has ended
// is left as it is.
func (s *Site) Cancel(id batch.JobID) (Job, []batch.Command, error) {
	j := s.book.byID[id]
	if j == nil {
		return Job{}, nil, unknownJob(id)
	}
	to := next(j.State, OnCancel)
	if to == 0 {
		return *j, nil, &TransitionError{Job: id, State: j.State, Event: OnCancel}
	}
	if to.Final() {
		return *j, nil, nil
	}
	if j.State != to {
		j.State = to
		j.Revision++
	}
	return *j, []batch.Command{{Kind: batch.CmdCancel, Key: j.Key()}}, nil
}

// Job returns a job, or a *Refusal when this site does not know it.
func (s *Site) Job(id batch.JobID) (Job, error) {
	j := s.book.byID[id]
	if j == nil {
		return Job{}, unknownJob(id)
	}
	return *j, nil
}

// charge returns the processors that a planner books for a job.
func (s *Site) charge(j *Job) int32 {
	return batch.Charge(j.Spec.Shape.Width, j.Spec.Memory, s.perProcessor)
}

func unknownJob(id batch.JobID) *Refusal {
	return &Refusal{Reason: ReasonUnknownJob, Field: "job_id", Accepted: "a job of this site", Err: fmt.Errorf("no job %q at this site", id)}
}
