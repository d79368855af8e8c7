package site

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// SetDraining makes the site take no new jobs, by submission or move, or lets it
// take them again.
func (s *Site) SetDraining(on bool) { s.draining = on }

// Draining says whether it takes none.
func (s *Site) Draining() bool { return s.draining }

func (s *Site) drains() *problem.Problem {
	return &problem.Problem{
		Reason: problem.Draining, Retryable: true, Accepted: "another site", Hint: "drover sites shows which sites take jobs",
		Message: fmt.Sprintf("site %s is being drained: it takes no new jobs", s.config.Name),
	}
}

// Settlement is what an operator declares about a move whose other site is lost.
type Settlement uint8

// The settlements.
const (
	// SettleCommitted, at the target: the source had committed; at the source: the
	// target has confirmed, or somebody has who got the job from it.
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

// settled begins the reason of what an operator has declared.
const settled = "settled by an operator: "

// Settle ends the move of an epoch by an operator's word. It is the one thing in
// the protocol that proves nothing: when the word is wrong the job runs twice, or
// is lost. The error is a *problem.Problem.
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
		return *j, &problem.Problem{Reason: problem.StaleEpoch, Field: "epoch", Accepted: fmt.Sprint(j.Epoch), Message: fmt.Sprintf("job %s has epoch %d", id, j.Epoch)}
	case j.State != wants:
		return *j, &problem.Problem{Reason: problem.NotWaiting, Field: "settlement", Accepted: fmt.Sprintf("for a job that is %v", wants), Message: fmt.Sprintf("job %s is %v here", id, j.State)}
	case wants == Gone && j.Transit.Acked:
		return *j, &problem.Problem{
			Reason: problem.NotWaiting, Field: "settlement", Accepted: "a move that was not confirmed",
			Message: fmt.Sprintf("job %s: site %s has confirmed that it has it", id, j.Transit.GoneTo),
		}
	case settlement == SettleTakeBack && j.Epoch == math.MaxUint32:
		return *j, &problem.Problem{Reason: problem.NotMovable, Field: "epoch", Accepted: "an epoch that has a next one", Message: fmt.Sprintf("job %s has been moved too often", id)}
	}
	switch {
	case settlement == SettleCommitted && wants == Gone:
		s.acknowledged(j)
	case settlement == SettleCommitted:
		s.change(j, func() { j.transit().note(func(m *Move) { m.Why = settled + reason }) })
		s.arrive(now, j)
	case settlement == SettleAborted:
		s.drop(j)
	case settlement == SettleTakeBack:
		s.takeBack(now, j, reason)
	}
	return *j, nil
}

// takeBack makes a job that was handed over wait here again, under an epoch of
// its own. Whoever asks about the old one is told that it came to nothing.
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
