package site

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Fate is what became of an attempt while the server was away. A recovering
// server competes for the claim of each of them, but for those known to have run.
type Fate struct {
	// Won: the claim is the server's, or nothing ran under it and never will.
	Won bool
	// Otherwise Found says that the attempt is being launched, runs, or how it
	// ended.
	Found   batch.Found
	Outputs []Output // of one that has ended
}

// Unsettled returns the attempts whose fates Recover has to be told, in order:
// those that may have been launched.
func (s *Site) Unsettled() []batch.Key {
	var keys []batch.Key
	for _, j := range s.book.order {
		if j != nil && (j.State == Starting || j.State == Running || j.State == Yielding || j.State == Cancelling) {
			keys = append(keys, j.Key())
		}
	}
	return keys
}

// Recover takes up the work of an earlier life, once, after Restore: what was
// being moved stays, what was being handed over is, and all that waits goes into
// the plan of an empty batch system that has adopted what runs. Fates are those of
// Unsettled, in its order.
func (s *Site) Recover(now batch.Time, fates []Fate) error {
	keys := s.Unsettled()
	if len(keys) != len(fates) {
		return fmt.Errorf("recover: %d fates of %d attempts", len(fates), len(keys))
	}
	for i, key := range keys {
		s.settleAttempt(now, s.book.byID[key.Job], &fates[i])
	}
	s.stranded(now)
	jobs := slices.DeleteFunc(slices.Clone(s.book.order), func(j *Job) bool { return j == nil })
	slices.SortFunc(jobs, byOrder)
	plans := s.fx.Plans // of attempts that follow another one
	s.fx.Plans = nil
	clear(plans)
	for _, j := range jobs {
		switch j.State {
		case Moving:
			s.giveUp(now, j, "the server was restarted")
			s.plan(batch.CmdSubmit, j)
		case Waiting:
			s.plan(batch.CmdSubmit, j)
		case Held:
			if len(j.Awaits()) > 0 {
				s.resumeAfter(now, j)
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
			s.inquire(now, j)
		case Gone:
			if j.slot == 0 { // it has not been handed over just now
				s.confirm(now, j)
			}
		}
	}
	return nil
}

func (s *Site) settleAttempt(now batch.Time, j *Job, f *Fate) {
	found := &f.Found
	over := found.Phase == batch.PhaseEnded
	if f.Won || over && found.Outcome.End == batch.EndNeverRan {
		switch {
		case j.Started != batch.Never:
			// It is known to have run: what would say how it ended is gone.
			_, _ = s.Ended(now, j.Key(), batch.Outcome{End: batch.EndLost, Reason: "lost: nothing is left of its launch"}, nil)
		case j.State == Yielding, j.State == Cancelling:
			s.change(j, func() { j.busy = false })
			s.Claimed(now, j.Key(), true)
		default:
			// Nothing ran, so that this is the batch system's attempt that never was.
			_, _ = s.Ended(now, j.Key(), batch.Outcome{End: batch.EndNeverRan, Reason: "it could not be launched"}, nil)
		}
		return
	}
	if j.State == Yielding || j.State == Cancelling && !over {
		s.Claimed(now, j.Key(), false)
	}
	if found.Phase == batch.PhaseStarting {
		return // it is being launched: its news is on its way
	}
	// The state takes these: it is one that has been launched.
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
