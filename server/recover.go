package server

import (
	"context"
	"errors"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// bar makes the claim of an attempt for the server, so that nothing will run under it
// from now on, unless somebody was first. Won says so, or that nothing has come of it.
func (s *Server) bar(key batch.Key) (won bool, err error) {
	if s.cluster != nil {
		return s.data.bar(key)
	}
	return s.runner.Bar(key)
}

// claimed makes the claim of an attempt that this life of the server has not let
// start. Where a supervisor was first, won is still true if nothing has come of that
// and never will.
func (s *Server) tryClaim(ctx context.Context, key batch.Key) (won bool, err error) {
	won, err = s.bar(key)
	if won || err != nil || s.cluster != nil {
		return won, err
	}
	won, _, _, err = s.attach(ctx, key, nil)
	return won, err
}

// attach says what became of an attempt as far as its file and the supervisor know,
// and won that nothing did. The process is there if it runs.
func (s *Server) attach(ctx context.Context, key batch.Key, j *site.Job) (won bool, st attempt.Status, p exec.Launched, err error) {
	st, p, err = s.runner.Attach(ctx, key, j)
	if err != nil {
		return false, st, nil, err
	}
	won = st.Condition == attempt.Unclaimed || st.Condition == attempt.Barred || st.Condition == attempt.NeverRan
	return won, st, p, nil
}

// recoverAttempt tries to claim an attempt after a restart and reports what became of
// it; called where the core is.
//
// The file of an attempt may be gone, with a job that removes its own directory, and
// a claim would then be won of what runs or has run. So the supervisor is asked in any
// case, after the claim: nothing begins any more by then, and what it has goes before
// what a file says. And where the attempt is known to have run, or the directory was
// removed that was there before the launch was on record, no claim is made.
func (s *Server) recoverAttempt(ctx context.Context, j *site.Job) (site.Fate, exec.Launched, error) {
	if s.cluster != nil {
		fate, err := s.recoverExternal(j)
		return fate, nil, err
	}
	removed := j.State == site.Starting && s.data.LacksAttempts(j.ID)
	if j.Started == batch.Never && !removed {
		if _, err := s.bar(j.Key()); err != nil {
			return site.Fate{}, nil, err
		}
	}
	won, st, process, err := s.attach(ctx, j.Key(), j)
	switch {
	case errors.Is(err, supervisor.ErrFollowed): // by the batch system, which will tell
		return site.Fate{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseStarting}}, nil, nil
	case err != nil:
		return site.Fate{}, nil, err
	case won && removed:
		st = attempt.Status{Condition: attempt.Lost, Reason: "what it was launched with was removed"}
	case won:
		return site.Fate{Won: true}, nil, nil
	}
	found := batch.Found{Key: j.Key(), Phase: batch.PhaseEnded, Started: st.Started, Ended: st.Ended}
	if process != nil {
		found.Phase = batch.PhaseRunning
		if found.Started, err = s.started(j.Key()); err != nil {
			s.log.Warn("age of a process, its walltime counts by the wall clock", "job", j.ID, "error", err)
			found.Started = st.Started
		}
		return site.Fate{Found: found}, process, nil
	}
	if found.Ended.IsZero() {
		found.Ended = time.Now()
	}
	found.Outcome = outcome(j, &st, found.Ended, s.checkpoints(j.Service))
	fate := site.Fate{Found: found}
	if service, err := s.cfg.Catalogue.Service(j.Service); err == nil {
		var wrong string
		fate.Outputs, wrong = s.results(ctx, j, service)
		fate.Found.Outcome = s.keepResults(j, service, judged(found.Outcome, wrong), fate.Outputs)
	}
	return fate, nil, nil
}

// lost tells why nobody knows how an attempt ended.
func lost(reason string) string { return "lost: " + reason }

// started returns when the process of an attempt that runs was made, on the clock
// of now: what was written down then is of a clock that may have been set since,
// and a job would get an hour more, or be killed at once.
func (s *Server) started(key batch.Key) (time.Time, error) {
	age, err := s.runner.Age(key)
	return time.Now().Add(-age), err
}

// outcome tells how an attempt ended that nobody watched. The signal by which the
// server had ended it before it went away is not the program's own failure. One that
// can makes place at a checkpoint whether or not it is known to have been told so.
func outcome(j *site.Job, st *attempt.Status, ended time.Time, can bool) batch.Outcome {
	limit := time.Duration(j.Shape.Walltime) * time.Microsecond
	switch {
	case st.Condition == attempt.Failed:
		return batch.Outcome{End: batch.EndStartFailed, Reason: st.Reason}
	case st.Condition == attempt.Lost:
		return batch.Outcome{End: batch.EndLost, Reason: lost(st.Reason)}
	case st.Condition == attempt.Exited && st.Code == 0:
		return batch.Outcome{End: batch.EndDone}
	case can && st.Condition == attempt.Exited && st.Code == batch.CheckpointStatus && j.State == site.Cancelling:
		return batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
	case can && st.Condition == attempt.Exited && st.Code == batch.CheckpointStatus:
		return batch.Outcome{End: batch.EndStopped, ExitCode: st.Code, Reason: "checkpointed"}
	case st.Condition == attempt.Exited:
		return batch.Outcome{End: batch.EndFailed, ExitCode: st.Code, Reason: withMore("exit status "+strconv.Itoa(st.Code), st.Reason)}
	case j.State == site.Cancelling:
		return batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
	case !st.Started.IsZero() && ended.Sub(st.Started) >= limit:
		return batch.Outcome{End: batch.EndKilled, Reason: "walltime of " + j.Shape.Walltime.String()}
	}
	signal := unix.SignalName(st.Signal)
	return batch.Outcome{End: batch.EndFailed, Signal: signal, Reason: withMore("signal "+signal, st.Reason)}
}

// withMore adds what else is known of a failure.
func withMore(failure, more string) string {
	if more == "" {
		return failure
	}
	return failure + ", " + more
}
