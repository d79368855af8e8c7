package exec

import (
	"cmp"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
)

// end begins to end an attempt that is started: as kind, for why. The
// first order counts.
func (s *System) end(now batch.Time, a *attempt, kind batch.End, why string) {
	if a.run.ending != 0 {
		return
	}
	a.run.ending, a.run.why = kind, why
	s.timers.set(a, batch.Never)
	if a.run.proc != nil {
		s.signalEnd(now, a)
	}
}

// signalEnd asks the group to end. An attempt that has ended by itself keeps
// its own outcome.
func (s *System) signalEnd(now batch.Time, a *attempt) {
	if !s.signal(a, syscall.SIGTERM) {
		a.run.ending, a.run.why = 0, ""
		return
	}
	if a.phase == batch.PhasePaused {
		s.signal(a, syscall.SIGCONT)
	}
	s.timers.set(a, now.Add(s.grace))
}

// signal sends sig, and returns false when the attempt has already ended by
// itself.
func (s *System) signal(a *attempt, sig syscall.Signal) bool {
	err := a.run.proc.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return false
	}
	if err != nil {
		s.log.Warn("signal not delivered", "job", a.key.Job, "signal", unix.SignalName(sig), "error", err)
	}
	return true
}

// finish deals with an attempt whose processes are gone, or never were.
func (s *System) finish(now batch.Time, n *note) {
	a := n.attempt
	if a.run.left {
		return
	}
	s.active--
	if s.released && (n.err != nil || n.exit.Detached) {
		// Whoever supervises it says on the next start what became of it. A launch
		// that fails now may have failed because the server stops.
		return
	}
	if a.run.gone != nil {
		close(a.run.gone)
	}
	switch {
	case n.err == nil && a.run.yields(n.exit):
		s.park(now, a)
		return
	case errors.Is(n.err, ErrNodeGone) && a.run.ending == 0 && !s.retired:
		s.tryAgain(now, a)
		return
	}
	var out batch.Outcome
	if n.err != nil {
		out = neverLaunched(n.err)
	} else {
		out = outcome(a.run, n.exit)
	}
	ev := batch.Event{Kind: batch.Finish, Job: a.job.Handle, Broken: a.run.asked && out.End == batch.EndKilled}
	if a.run.allocation == nil && !a.job.Resident {
		ev = batch.Event{Kind: batch.Cancel, Job: a.job.Handle} // it was paused: the policy has it waiting
	}
	s.giveBack(a.run)
	// A command that is missing now is missing the next time too: the policy is
	// told the job is over, not to try it again with StartFailed.
	s.apply(now, ev)
	if n.err != nil {
		s.log.Warn("job could not be started", "job", a.key.Job, "error", n.err)
	}
	s.over(now, a, out)
}

// giveBack frees all that an attempt is booked for.
func (s *System) giveBack(r *run) {
	s.alloc.Release(r.allocation)
	s.alloc.Release(r.next)
	r.allocation, r.next = nil, nil
}

// tryAgain has an attempt wait again that could not be launched because a node has left
// meanwhile. What had made place at a checkpoint can still go on from there.
func (s *System) tryAgain(now batch.Time, a *attempt) {
	s.log.Info("a node has left before the job was launched there", "job", a.key.Job)
	s.timers.set(a, batch.Never)
	if r := a.run; r.next != nil { // it was to move from there anyway
		s.alloc.Release(r.allocation)
		r.allocation, r.ran, r.next, r.awaited = r.next, r.next, nil, true
		s.apply(now, batch.Event{Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: r.again != nil, Progress: r.done})
		s.start(now, a)
		return
	}
	s.giveBack(a.run)
	ev := batch.Event{Kind: batch.StartFailed, Job: a.job.Handle}
	was := a.run
	if was.again != nil || was.stopping { // it was to be paused
		ev = batch.Event{Kind: batch.Stopped, Job: a.job.Handle, Checkpoint: was.again != nil, Progress: was.done}
	}
	s.dropMemory(was)
	a.phase, a.run = batch.PhaseQueued, nil
	if was.again != nil {
		a.run = &run{resumes: was.again, done: was.done}
	}
	s.changes.touch(a)
	s.apply(now, ev)
}

// over puts a into its last phase and lets go of what is not needed any more.
func (s *System) over(now batch.Time, a *attempt, out batch.Outcome) {
	if a.run == nil {
		a.run = &run{}
	}
	s.timers.set(a, batch.Never)
	s.dropMemory(a.run)
	s.quit(now, a)
	a.phase, a.run.ended, a.run.outcome = batch.PhaseEnded, now, out
	if h := a.job.Handle; h != batch.NoJob {
		s.handles[h] = nil
		if s.parked[a.key] == nil {
			s.unused = append(s.unused, h)
		}
	}
	a.job, a.run.allocation, a.run.next, a.run.proc = nil, nil, nil, nil
	s.changes.touch(a)
	if old := s.changes.retire(a, s.retain); old != nil {
		delete(s.attempts, old.key)
	}
}

// neverLaunched is the outcome of an attempt that has no process.
func neverLaunched(err error) batch.Outcome {
	out := batch.Outcome{End: batch.EndStartFailed, Reason: err.Error()}
	if errors.Is(err, ErrNeverRan) || errors.Is(err, ErrNodeGone) {
		out.End = batch.EndNeverRan
	}
	return out
}

// outcome is that of an attempt whose process is gone. One that was being ended
// has ended as it was told to, even if nobody saw it; if it had ended by itself before,
// and somebody saw that, as it did.
func outcome(r *run, exit Exit) batch.Outcome {
	out := batch.Outcome{End: batch.EndDone, ExitCode: exit.Code}
	switch {
	case exit.Lost || exit.Detached:
		out = batch.Outcome{End: batch.EndLost, Reason: cmp.Or(exit.Reason, "nobody saw how it ended")}
	case exit.Signal != 0:
		out = batch.Outcome{End: batch.EndFailed, Signal: unix.SignalName(exit.Signal)}
		out.Reason = withMore("signal "+out.Signal, exit.Reason)
	case exit.Code != 0:
		out.End, out.Reason = batch.EndFailed, withMore(exitReason(exit.Code, 0), exit.Reason)
	}
	if r.asked && out.End == batch.EndFailed {
		out.End, out.Reason = batch.EndKilled, "it had to make place, and left no checkpoint: "+out.Reason
	}
	if r.ending != 0 && (!exit.Unheard || out.End == batch.EndLost) {
		out.End, out.Reason = r.ending, r.why
	}
	return out
}

// withMore adds what else is known of a failure.
func withMore(failure, more string) string {
	if more == "" {
		return failure
	}
	return failure + ", " + more
}
