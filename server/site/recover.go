package site

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// RecoveredAttempt is what became of an attempt while the server was down. A recovering server
// tries to claim every attempt that is not known to have run.
type RecoveredAttempt struct {
	// Won means that the server won the claim, or that nothing ran under it and nothing ever will.
	Won bool
	// If Won is false, Found says whether the attempt is being launched, runs, or how it ended.
	Found   batch.Found
	Outputs []Output // of an attempt that has ended
}

// Unsettled returns the attempts that may have been launched, in queue order. Recover needs the
// result of each.
func (s *Site) Unsettled() []batch.Key {
	var keys []batch.Key
	for _, j := range s.book.order {
		if j != nil && (j.State == Starting || j.State == Running || j.State == Yielding || j.State == Cancelling) {
			keys = append(keys, j.Key())
		}
	}
	return keys
}

// Recover continues the work of an earlier run, once, after Restore. Moves that were not committed
// are aborted, committed ones are finished, and all waiting jobs go into the plan of an empty batch
// system that has adopted the running jobs. attempts are the results for Unsettled, in its order.
func (s *Site) Recover(now batch.Time, attempts []RecoveredAttempt) error {
	keys := s.Unsettled()
	if len(keys) != len(attempts) {
		return fmt.Errorf("recover: results of %d of %d attempts", len(attempts), len(keys))
	}
	for i, key := range keys {
		s.settleAttempt(now, s.book.byID[key.Job], &attempts[i])
	}
	s.endStranded(now)
	jobs := slices.DeleteFunc(slices.Clone(s.book.order), func(j *Job) bool { return j == nil })
	slices.SortFunc(jobs, byOrder)
	plans := s.fx.Plans // of attempts that follow another one
	s.fx.Plans = nil
	clear(plans)
	for _, j := range jobs {
		switch j.State {
		case Moving:
			s.abortAndWait(now, j, "the server was restarted")
			s.plan(batch.CmdSubmit, j)
		case Waiting:
			s.plan(batch.CmdSubmit, j)
		case Held:
			if len(j.Awaits()) > 0 {
				s.resumeDependencies(now, j)
				break
			}
			s.plan(batch.CmdSubmit, j)
			s.command(batch.CmdHold, j.Key())
			s.arm(j, now.Add(j.Transit.Lease))
		case Incoming:
			s.plan(batch.CmdReserve, j)
			if j.Transit.Since > now { // the clock was set back
				s.change(j, func() { j.transit().Since = now })
			}
			if j.Transit.Idle {
				s.command(batch.CmdHold, j.Key())
			}
			s.sendResolve(now, j)
		case Gone:
			if j.slot == 0 { // not handed over just now
				s.sendConfirm(now, j)
			}
		}
	}
	return nil
}

func (s *Site) settleAttempt(now batch.Time, j *Job, f *RecoveredAttempt) {
	found := &f.Found
	over := found.Phase == batch.PhaseEnded
	if f.Won || over && found.Outcome.End == batch.EndNeverRan {
		switch {
		case j.Started != batch.Never:
			// It is known to have run, but the record of its end is lost.
			_, _ = s.Ended(now, j.Key(),
				batch.Outcome{End: batch.EndLost, Reason: "lost: nothing is left of its launch"}, nil)
		case j.State == Yielding, j.State == Cancelling:
			s.change(j, func() { j.busy = false })
			s.Claimed(now, j.Key(), true)
		default:
			// Nothing ran, so the attempt counts as never launched.
			_, _ = s.Ended(now, j.Key(), batch.Outcome{End: batch.EndNeverRan, Reason: "it could not be launched"}, nil)
		}
		return
	}
	if j.State == Yielding || j.State == Cancelling && !over {
		s.Claimed(now, j.Key(), false)
	}
	if found.Phase == batch.PhaseStarting {
		return // it is being launched; its event follows
	}
	// The state allows these events, because the attempt was launched.
	if !found.Started.IsZero() || !over {
		started := batch.Time(found.Started.UnixMicro())
		if j.Started != batch.Never || found.Started.IsZero() {
			started = min(j.Started, now)
		}
		if j.State == Running && j.Started > now { // the clock was set back
			s.change(j, func() {
				j.Started = now
				if !found.Started.IsZero() {
					j.Started = min(batch.Time(found.Started.UnixMicro()), now)
				}
			})
		}
		nodes, places := found.Nodes, found.Allocation
		if j.Run != nil && len(places) == 0 {
			nodes, places = j.Run.Nodes, j.Run.Places
		}
		_, _ = s.Running(started, j.Key(), nodes, places)
	}
	if over {
		_, _ = s.Ended(batch.Time(found.Ended.UnixMicro()), j.Key(), found.Outcome, f.Outputs)
	}
}
