package site

import (
	"cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

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
