package site

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Plan is a planner that also knows the waiting jobs.
type Plan interface {
	Planner
	// Standing returns when the waiting job of an attempt would complete in the present plan; false
	// if this is unknown.
	Standing(now batch.Time, key batch.Key) (batch.Time, bool)
}

// AnyGain is the MinGain of a move that is wanted even at a loss.
const AnyGain = -batch.Forever

// MoveRequest asks a site to move a job.
type MoveRequest struct {
	Job     batch.JobID
	To      string         // target site
	Seen    uint32         // the job's epoch as the agent knows it
	MinGain batch.Duration // how much sooner the job must complete there
	Reason  string         // for the record
	Agent   string         // for the record
}

// Move starts to move a waiting job: step 0 of the protocol. The error is a *problem.Problem.
func (s *Site) Move(now batch.Time, o MoveRequest, plan Plan) (Job, error) {
	j := s.book.byID[o.Job]
	if j == nil || j.State == Absent {
		return Job{}, unknownJob(o.Job)
	}
	switch {
	case j.Epoch != o.Seen:
		return *j, &problem.Problem{
			Reason: problem.StaleEpoch, Field: "seen_epoch", Accepted: fmt.Sprint(j.Epoch),
			Message: fmt.Sprintf("job %s has epoch %d, and not %d: it was moved, or another move was tried", j.ID,
				j.Epoch, o.Seen),
		}
	case j.State != Waiting:
		return *j, &problem.Problem{
			Reason: problem.NotWaiting, Field: "job_id", Accepted: "a job that waits",
			Message: fmt.Sprintf("job %s is %v", j.ID, j.State),
		}
	}
	if err := s.mayMove(j, o.To); err != nil {
		return *j, err
	}
	stay := batch.Time(0)
	if end, ok := plan.Standing(now, j.Key()); ok && end != batch.Never {
		stay = end
	}
	s.startMove(now, j, o, stay)
	return *j, nil
}

// mayMove returns a *problem.Problem if a job can never be moved, or not to that site.
func (s *Site) mayMove(j *Job, to string) error {
	switch {
	case !j.movable():
		return j.notMovable()
	case j.Epoch == math.MaxUint32:
		return &problem.Problem{
			Reason: problem.NotMovable, Field: "seen_epoch", Accepted: "an epoch that has a next one",
			Message: fmt.Sprintf("job %s has been moved too often", j.ID),
		}
	case to == s.config.Name || to == "":
		return problem.Field(problem.BadValue, "to", "another site", "site %q", to)
	}
	return nil
}

func (j *Job) notMovable() *problem.Problem {
	if j.Bound() {
		return notMovable(j.ID, "bound to its site")
	}
	return notMovable(j.ID, "a local user's")
}

func notMovable(id batch.JobID, why string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.NotMovable, Field: "job_id", Accepted: "a job of the grid's that is bound to no site",
		Message: fmt.Sprintf("job %s is %s", id, why),
	}
}

// startMove records MOVING(T, e) and asks T for a slot.
func (s *Site) startMove(now batch.Time, j *Job, o MoveRequest, stay batch.Time) {
	s.change(j, func() {
		j.State = Moving
		j.Epoch++
		j.tries = 0
		t := j.transit()
		t.Peer, t.MinGain, t.Since, t.Stay = o.To, o.MinGain, now, stay
		t.assign(j.Epoch)
		t.begin(Move{
			From: s.config.Name, To: o.To, Epoch: j.Epoch, State: MovePending, Ordered: now,
			Reason: o.Reason, Agent: o.Agent, MinGain: o.MinGain,
		})
	})
	s.sendReserve(now, j)
}

// sendReserve asks the target site for a slot.
func (s *Site) sendReserve(now batch.Time, j *Job) {
	t := j.Transit
	p := &Parcel{
		Dossier: j.Dossier, Sent: now, Age: max(now.Sub(j.Submitted), 0), Present: batch.Forever, Moves: t.Moves,
		Retried: j.Retried,
	}
	if t.Stay != 0 {
		p.Present = max(t.Stay.Sub(now), 0)
	}
	s.send(j, Message{Kind: Reserve, Epoch: j.Epoch, Parcel: p})
	due := min(s.backoff(now, j), t.Since.Add(s.config.Patience.Move))
	if t.Round != "" {
		due = min(due, t.Since.Add(t.Lease))
	}
	s.arm(j, due)
}

func (s *Site) send(j *Job, m Message) {
	m.From, m.To, m.Job = s.config.Name, j.Transit.Peer, j.ID
	s.fx.Messages = append(s.fx.Messages, m)
}

// repeatReserve repeats a Reserve that was not answered, until Patience.Move has passed. A job that
// was held for a round gets its slot back after another lease, so that a silent target does not
// cost it its turn.
func (s *Site) repeatReserve(now batch.Time, j *Job) {
	t := j.Transit
	if now >= t.Since.Add(s.config.Patience.Move) {
		s.abortAndWait(now, j, "no answer in time")
		return
	}
	if now >= t.Since.Add(t.Lease) {
		s.clearRound(j)
	}
	s.sendReserve(now, j)
}

// decideMove compares the slot at the target with the one here: step 2. It estimates the gain
// again.
func (s *Site) decideMove(now batch.Time, j *Job, m *Message, plan Plan) {
	t := j.Transit
	end, known := batch.Never, false
	if t.Round == "" { // a held job has no slot here
		end, known = plan.Standing(now, j.Key())
		known = known && end != batch.Never
	}
	gain := end.Sub(now.Add(m.Completion))
	switch {
	case known && gain < t.MinGain:
		s.abortAndWait(now, j, fmt.Sprintf("its gain would be %v", gain))
		return
	case !known && t.Round == "" && t.MinGain != AnyGain:
		s.abortAndWait(now, j, "its gain is unknown")
		return
	}
	s.change(j, func() {
		j.State = Yielding
		t := j.transit()
		if known {
			t.note(func(m *Move) { m.Predicted = &gain })
		}
	})
	s.arm(j, batch.Never)
	s.claim(j)
}

// abortAndWait aborts a move; its job waits here again.
func (s *Site) abortAndWait(now batch.Time, j *Job, why string) {
	s.abort(now, j, why)
	s.clearRound(j)
	s.change(j, func() { j.State = Waiting })
	s.arm(j, batch.Never)
}

// abort records ABORTED(e) and sends Drop once. If that is lost, the target asks with Resolve. The
// caller sets the job's new state.
func (s *Site) abort(now batch.Time, j *Job, why string) {
	s.send(j, Message{Kind: Drop, Epoch: j.Epoch})
	s.change(j, func() {
		t := j.transit()
		t.Peer, t.Stay = "", 0
		t.note(func(m *Move) { m.State, m.Settled, m.Why = MoveAborted, now, why })
	})
}

// commit records GONE(T, e), the commit point, and hands the job over.
func (s *Site) commit(now batch.Time, j *Job) {
	s.command(batch.CmdCancel, j.Key())
	s.change(j, func() {
		j.State = Gone
		j.tries = 0
		t := j.transit()
		t.Gone, t.GoneTo, t.Acked = j.Epoch, t.Peer, false
		t.Round, t.Stay = "", 0
		t.decide(true)
		t.note(func(m *Move) { m.State, m.Settled = MoveCommitted, now })
	})
	s.sendConfirm(now, j)
	s.watch(j.ID)
}

// sendConfirm sends Confirm until it is acknowledged. The complete job is kept until then.
func (s *Site) sendConfirm(now batch.Time, j *Job) {
	if j.Transit.Acked {
		return
	}
	s.send(j, Message{Kind: Confirm, Epoch: j.Transit.Gone})
	s.arm(j, s.backoff(now, j))
}

// acknowledged records that the target has the job and drops what was kept of it.
func (s *Site) acknowledged(j *Job) {
	s.change(j, func() {
		t := j.transit()
		t.Acked, t.Moves = true, nil
		j.forget()
	})
	s.arm(j, batch.Never)
	s.fx.Discard = append(s.fx.Discard, j.ID)
}
