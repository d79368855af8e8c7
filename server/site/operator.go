package site

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// SetDraining sets whether the site rejects new jobs, both submitted and moved ones.
func (s *Site) SetDraining(on bool) { s.draining = on }

// Draining reports whether the site rejects new jobs.
func (s *Site) Draining() bool { return s.draining }

func (s *Site) drains() *problem.Problem {
	return &problem.Problem{
		Reason: problem.Draining, Retryable: true, Accepted: "another site",
		Hint:    "drover sites shows which sites take jobs",
		Message: fmt.Sprintf("site %s is being drained: it takes no new jobs", s.config.Name),
	}
}

// Settlement is an operator's decision about a move with a lost other site.
type Settlement uint8

// The settlements.
const (
	// SettleCommitted, at the target, means that the source had committed; at the source, that the
	// target has the job, or had it and passed it on.
	SettleCommitted Settlement = iota + 1
	SettleAborted              // at the target: the source had aborted
	SettleTakeBack             // at the source: the target is lost
)

// String returns the settlement as operators write it.
func (s Settlement) String() string {
	switch s {
	case SettleCommitted:
		return "committed"
	case SettleAborted:
		return "aborted"
	case SettleTakeBack:
		return "take-back"
	}
	return "unspecified"
}

// settled is the prefix of a reason that an operator gave.
const settled = "settled by an operator: "

// Settle ends the move of an epoch as an operator decides. It is the only step of the protocol
// without proof: if the operator is wrong, the job runs twice or is lost. The error is a
// *problem.Problem.
func (s *Site) Settle(now batch.Time, id batch.JobID, epoch uint32, settlement Settlement, reason string) (Job, error) {
	j := s.book.byID[id]
	if j == nil || j.State == Absent {
		return Job{}, unknownJob(id)
	}
	wants := Incoming
	if settlement == SettleTakeBack || settlement == SettleCommitted && j.State == Gone {
		wants = Gone
	}
	switch {
	case settlement < SettleCommitted || settlement > SettleTakeBack:
		return *j, problem.Field(problem.BadValue, "settlement", "committed, aborted, take back", "%d", settlement)
	case j.Epoch != epoch:
		return *j, &problem.Problem{
			Reason: problem.StaleEpoch, Field: "epoch", Accepted: fmt.Sprint(j.Epoch),
			Message: fmt.Sprintf("job %s has epoch %d", id, j.Epoch),
		}
	case j.State != wants:
		return *j, &problem.Problem{
			Reason: problem.NotWaiting, Field: "settlement", Accepted: fmt.Sprintf("for a job that is %v", wants),
			Message: fmt.Sprintf("job %s is %v here", id, j.State),
		}
	case wants == Gone && j.Transit.Acked:
		return *j, &problem.Problem{
			Reason: problem.NotWaiting, Field: "settlement", Accepted: "a move that was not confirmed",
			Message: fmt.Sprintf("job %s: site %s has confirmed that it has it", id, j.Transit.GoneTo),
		}
	case settlement == SettleTakeBack && j.Epoch == math.MaxUint32:
		return *j, &problem.Problem{
			Reason: problem.NotMovable, Field: "epoch", Accepted: "an epoch that has a next one",
			Message: fmt.Sprintf("job %s has been moved too often", id),
		}
	}
	switch {
	case settlement == SettleCommitted && wants == Gone:
		s.acknowledged(j)
	case settlement == SettleCommitted:
		s.change(j, func() { j.transit().note(func(m *Move) { m.Why = settled + reason }) })
		s.takeOver(now, j)
	case settlement == SettleAborted:
		s.drop(j)
	case settlement == SettleTakeBack:
		s.takeBack(now, j, reason)
	}
	return *j, nil
}

// takeBack makes a job that was handed over wait here again, under a new epoch. The old epoch
// counts as aborted.
func (s *Site) takeBack(now batch.Time, j *Job, reason string) {
	s.arm(j, batch.Never)
	s.change(j, func() {
		j.Epoch++
		j.Under, j.Attempt, j.State = j.Epoch, s.attemptAfter(j.ID, j.Epoch, 0), Waiting
		t := j.transit()
		t.decide(false)
		t.assign(j.Epoch)
		t.Peer, t.Gone, t.GoneTo = "", 0, ""
		t.note(func(m *Move) { m.State, m.Settled, m.Why = MoveAborted, now, settled+reason })
	})
	s.plan(batch.CmdSubmit, j)
}
