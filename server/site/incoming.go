package site

import (
	"errors"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// reserve answers a source that wants to move a job here: step 1 of a move.
func (s *Site) reserve(now batch.Time, j *Job, m *Message, answer *Message, plan Plan) {
	switch {
	case j != nil && j.State == Incoming && j.Epoch == m.Epoch && j.Transit.Peer == m.From:
		s.answerReserved(now, j, answer) // the first answer was lost
		return
	case j != nil && m.Epoch <= j.Epoch:
		answer.Kind = Superseded
		return
	case j != nil && !j.ownedElsewhere():
		// This site has authority over the job, so the source cannot have it. An operator who took
		// the job back may have caused this.
		answer.Kind, answer.Why = Refused, "the job is here already"
		return
	case s.draining:
		answer.Kind, answer.Why = Refused, s.drains().Message
		return
	}
	next := Job{
		ID: m.Job, Attempt: s.attemptAfter(m.Job, m.Epoch, 0), fingerprint: m.Parcel.Dossier.Request.fingerprint(),
	}
	if err := s.admit(now, &next, m.Parcel.Dossier, plan); err != nil {
		var refusal *problem.Problem
		if !errors.As(err, &refusal) && !errors.Is(err, ErrNoPlan) {
			return // an internal failure: the source asks again
		}
		answer.Kind, answer.Why = Refused, err.Error()
		return
	}
	s.acceptIncoming(now, j, &next, m)
	s.answerReserved(now, s.book.byID[m.Job], answer)
}

// ownedElsewhere reports whether this site has no authority over the job.
func (j *Job) ownedElsewhere() bool {
	return j.State == Absent || j.State == Gone || j.State == Incoming
}

// acceptIncoming records INCOMING(S, e). The Transit keeps what was known of the job before, for
// drop.
func (s *Site) acceptIncoming(now batch.Time, j *Job, next *Job, m *Message) {
	if j == nil {
		j = &Job{ID: m.Job, Started: batch.Never, Ended: batch.Never}
		s.book.add(j)
	} else if j.State == Incoming { // under an epoch that the source aborted
		s.command(batch.CmdCancel, j.Key())
	}
	s.arm(j, batch.Never)
	s.change(j, func() {
		before := j.Transit
		next.Withdrawn, next.Revision, next.index, next.Serial, next.dirty = j.Withdrawn, j.Revision, j.index, j.Serial,
			j.dirty
		next.Order = s.book.next()
		*j = *next
		j.State, j.Retried = Incoming, m.Parcel.Retried
		j.Epoch, j.Under = m.Epoch, m.Epoch
		j.Submitted = now.Add(-m.Parcel.Age)
		t := &Transit{Peer: m.From, Since: now, Quoted: now, Moves: s.movesOnOwnClock(now, m.Parcel)}
		if before != nil {
			// A higher epoch acknowledges a Confirm that was not answered.
			t.Gone, t.GoneTo, t.Acked, t.Assigned = before.Gone, before.GoneTo, before.Gone != 0, before.Assigned
		}
		if m.Parcel.Present != batch.Forever {
			t.Expected = now.Add(m.Parcel.Present)
			gain := t.Expected.Sub(now.Add(j.Estimate.Completion))
			t.note(func(m *Move) { m.Predicted = &gain })
		}
		j.Transit = t
	})
	s.plan(batch.CmdReserve, j)
	s.arm(j, s.backoff(now, j))
}

// movesOnOwnClock returns the history of a job with its times on this site's clock.
func (s *Site) movesOnOwnClock(now batch.Time, p *Parcel) []Move {
	ahead := now.Sub(p.Sent)
	moves := slices.Clone(p.Moves)
	for i := range moves {
		moves[i].Ordered = moves[i].Ordered.Add(ahead)
		if moves[i].Settled != 0 {
			moves[i].Settled = moves[i].Settled.Add(ahead)
		}
	}
	return moves
}

// answerReserved answers with the slot of an incoming job.
func (s *Site) answerReserved(now batch.Time, j *Job, answer *Message) {
	answer.Kind, answer.Shape = Reserved, j.Shape
	answer.Completion = max(j.Estimate.Completion-now.Sub(j.Transit.Since), j.Estimate.Run)
}

// sendResolve asks the source for the result of the move. After Patience.Idle the job gives up its
// capacity.
func (s *Site) sendResolve(now batch.Time, j *Job) {
	if t := j.Transit; !t.Idle && now >= t.Since.Add(s.config.Patience.Idle) {
		s.change(j, func() { j.transit().Idle = true })
		s.command(batch.CmdHold, j.Key())
	}
	s.send(j, Message{Kind: Resolve, Epoch: j.Epoch})
	s.arm(j, s.backoff(now, j))
}

// confirmed answers the Confirm of a source: step 4 of a move. It returns 0, for no answer, in a
// state that the protocol excludes: a record was lost, or an operator settled the move wrongly. The
// source then keeps the job.
func (s *Site) confirmed(now batch.Time, j *Job, m *Message) MessageKind {
	switch {
	case j == nil || m.Epoch > j.Epoch:
		return 0
	case m.Epoch < j.Epoch:
		return Superseded
	case j.State == Incoming && j.Transit.Peer == m.From:
		s.takeOver(now, j)
	case j.ownedElsewhere(): // it was dropped, or comes from another site
		return 0
	}
	return Confirmed
}

// takeOver gives this site the authority over an incoming job.
func (s *Site) takeOver(now batch.Time, j *Job) {
	s.arm(j, batch.Never)
	s.change(j, func() {
		t := j.transit()
		t.Peer, t.Idle = "", false
		// The verdicts stay, because the source of an earlier move may ask about it.
		t.note(func(m *Move) { m.State, m.Settled = MoveCommitted, now })
		j.State = Waiting
	})
	if j.Cancel {
		s.cancelled(now, j, "")
		return
	}
	s.command(batch.CmdConfirm, j.Key())
}

// drop restores what this site knew of a job before it was incoming, and keeps the highest epoch.
func (s *Site) drop(j *Job) {
	s.command(batch.CmdCancel, j.Key())
	s.arm(j, batch.Never)
	s.change(j, func() {
		j.State, j.Cancel = Absent, false
		t := j.transit()
		t.Peer, t.Moves, t.Idle, t.Expected = t.GoneTo, nil, false, 0
		if t.Gone != 0 {
			j.State = Gone
		}
		j.forget()
	})
	s.fx.Discard = append(s.fx.Discard, j.ID)
	s.watch(j.ID)
}

// recordGain records the gain of the last move when the job is done.
func (s *Site) recordGain(now batch.Time, j *Job) {
	if j.Transit == nil || j.Transit.Expected == 0 || j.Under == 0 {
		return
	}
	gain := j.Transit.Expected.Sub(now)
	t := j.transit()
	t.Moves = slices.Clone(t.Moves)
	for i := len(t.Moves) - 1; i >= 0; i-- { // later moves were tried from here
		if m := &t.Moves[i]; m.State == MoveCommitted && m.To == s.config.Name {
			m.Realized = &gain
			return
		}
	}
}
