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
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// bar makes the claim of an attempt for the server, so that the attempt can never run. Won reports
// whether the server made it first, or the earlier claim came to nothing.
func (s *Server) bar(key batch.Key) (won bool, err error) {
	if s.cluster != nil {
		return s.data.bar(key)
	}
	return s.runner.Bar(key)
}

// tryClaim claims an attempt that this server process has not launched. If a supervisor claimed it
// first, won is still true if the attempt never ran and never will.
func (s *Server) tryClaim(ctx context.Context, key batch.Key) (won bool, err error) {
	won, err = s.bar(key)
	if won || err != nil || s.cluster != nil {
		return won, err
	}
	won, _, _, err = s.attach(ctx, key, nil)
	return won, err
}

// attach returns what the claim file and the supervisor know of an attempt. Won reports that it
// never ran; p is its process if it runs.
func (s *Server) attach(
	ctx context.Context, key batch.Key, j *site.Job,
) (won bool, st attempt.Status, p exec.Launched, err error) {
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
// A job that removes its own directory removes its claim file, too. A claim would then be won
// although the job runs or has run. Therefore the supervisor is asked in any case, after the claim,
// when nothing can begin any more, and its answer overrides the file. No claim is made if the
// attempt is known to have run, or if the directory that existed before the launch was recorded is
// missing.
func (s *Server) recoverAttempt(ctx context.Context, j *site.Job) (site.RecoveredAttempt, exec.Launched, error) {
	if s.cluster != nil {
		recovered, err := s.recoverExternal(j)
		return recovered, nil, err
	}
	removed := j.State == site.Starting && s.data.LacksAttempts(j.ID)
	if j.Started == batch.Never && !removed {
		_, err := s.bar(j.Key())
		if _, damaged := errors.AsType[*journal.DamagedError](err); err != nil && !damaged {
			return site.RecoveredAttempt{}, nil, err
		}
	}
	won, st, process, err := s.attach(ctx, j.Key(), j)
	switch {
	case errors.Is(err, supervisor.ErrFollowed): // the batch system follows it and reports it
		return site.RecoveredAttempt{Found: batch.Found{Key: j.Key(), Phase: batch.PhaseStarting}}, nil, nil
	case err != nil:
		return site.RecoveredAttempt{}, nil, err
	case won && removed:
		st = attempt.Status{Condition: attempt.Lost, Reason: "its directory was removed"}
	case won:
		return site.RecoveredAttempt{Won: true}, nil, nil
	}
	found := batch.Found{Key: j.Key(), Phase: batch.PhaseEnded, Started: st.Started, Ended: st.Ended}
	if process != nil {
		found.Phase = batch.PhaseRunning
		if found.Started, err = s.started(j.Key()); err != nil {
			s.log.Warn("process age unknown; the walltime counts by the wall clock", "job", j.ID, "error", err)
			found.Started = st.Started
		}
		return site.RecoveredAttempt{Found: found}, process, nil
	}
	if found.Ended.IsZero() {
		found.Ended = time.Now()
	}
	found.Outcome = outcome(j, &st, found.Ended, s.checkpoints(j.Service))
	recovered := site.RecoveredAttempt{Found: found}
	if service, err := s.cfg.Catalogue.Service(j.Service); err == nil {
		var wrong string
		recovered.Outputs, wrong = s.results(ctx, j, service)
		recovered.Found.Outcome = s.keepOutputs(j, service, withOutputs(found.Outcome, wrong), recovered.Outputs)
	}
	return recovered, nil, nil
}

// lost returns the reason of an attempt with an unknown end.
func lost(reason string) string { return "lost: " + reason }

// started returns the start of a running attempt on today's clock, computed from the age of its
// process. The recorded start is on a clock that may have been set since: the job could get an hour
// more, or be killed at once.
func (s *Server) started(key batch.Key) (time.Time, error) {
	age, err := s.runner.Age(key)
	return time.Now().Add(-age), err
}

// notStarted is the outcome of an attempt whose program could not be executed.
func notStarted(errno int, reason string) batch.Outcome {
	return batch.Outcome{
		End: batch.EndStartFailed, NotExecutable: attempt.NotExecutable(errno), Reason: reason,
	}
}

// outcome returns how an attempt ended while no server watched it. A signal that the server sent
// before it stopped is not the program's failure. A program that can checkpoint and exited with the
// checkpoint status was stopped, whether or not the request is on record.
func outcome(j *site.Job, st *attempt.Status, ended time.Time, can bool) batch.Outcome {
	limit := time.Duration(j.Shape.Walltime) * time.Microsecond
	switch {
	case st.Condition == attempt.Failed:
		return notStarted(st.Code, st.Reason)
	case st.Condition == attempt.Lost:
		return batch.Outcome{End: batch.EndLost, Reason: lost(st.Reason)}
	case st.Condition == attempt.Exited && st.Code == 0:
		return batch.Outcome{End: batch.EndDone}
	case can && st.Condition == attempt.Exited && st.Code == batch.CheckpointStatus && j.State == site.Cancelling:
		return batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
	case can && st.Condition == attempt.Exited && st.Code == batch.CheckpointStatus:
		return batch.Outcome{End: batch.EndStopped, ExitCode: st.Code, Reason: "checkpointed"}
	case st.Condition == attempt.Exited:
		return batch.Outcome{
			End: batch.EndFailed, ExitCode: st.Code,
			Reason: withMore("exit status "+strconv.Itoa(st.Code), st.Reason),
		}
	case j.State == site.Cancelling:
		return batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
	case !st.Started.IsZero() && ended.Sub(st.Started) >= limit:
		return batch.Outcome{End: batch.EndKilled, Reason: "walltime of " + j.Shape.Walltime.String()}
	}
	signal := unix.SignalName(st.Signal)
	return batch.Outcome{End: batch.EndFailed, Signal: signal, Reason: withMore("signal "+signal, st.Reason)}
}

// withMore appends details to a failure's reason.
func withMore(failure, more string) string {
	if more == "" {
		return failure
	}
	return failure + ", " + more
}
