package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Past is what earlier attempts of a job have done that were stopped at a checkpoint.
type Past struct {
	Stops   uint32         `json:"stops"`
	Done    batch.Duration `json:"done"`    // for so long they ran, in all
	Started batch.Time     `json:"started"` // the first one
	Stopped batch.Time     `json:"stopped"` // the last one
}

// mostStops bounds how often a job goes on: a program that stops again and again
// without having been told to is not to be started for ever.
const mostStops = 100

// past returns a job's past, the zero Past of one without.
func (j *Job) past() Past {
	if j.Past == nil {
		return Past{}
	}
	return *j.Past
}

// begun returns when the job first began to run.
func (j *Job) begun() batch.Time {
	if j.Past != nil {
		return j.Past.Started
	}
	return j.Started
}

// resumable says whether the job may be launched again when nobody has seen how its
// attempt ended: it may be executed twice, or it goes on from its last checkpoint, and
// does once more only what it had done since.
func (j *Job) resumable() bool { return j.Needs.Restartable || j.Past != nil }

// left returns what is left of the job's walltime for the present attempt. It is
// never nothing: one that was stopped in its last second ends in another one.
func (j *Job) left() batch.Duration {
	if j.Past == nil {
		return j.Shape.Walltime
	}
	return max(j.Shape.Walltime-j.Past.Done, batch.Second)
}

// Begun returns when the job first began to run; Never before.
func (j *Job) Begun() batch.Time { return j.begun() }

// stopped lets a job wait whose attempt has made place at a checkpoint: another one
// goes on from there. The batch system, which keeps its processors until it knows
// what becomes of it, is told if there is nothing to follow.
func (s *Site) stopped(now batch.Time, j *Job, lives bool, outcome batch.Outcome, outputs []Output) (Job, error) {
	last := j.Key()
	past := j.past()
	past.Stops, past.Stopped = past.Stops+1, now
	if j.Started != batch.Never {
		past.Done += max(now.Sub(j.Started), 0)
		past.Started = min(j.begun(), now)
	} else if j.Past == nil {
		past.Started = now
	}
	if lives && past.Stops <= mostStops && past.Done < j.Shape.Walltime {
		s.requeue(now, j)
		s.change(j, func() { j.Past, j.Vain = &past, 0 })
		plan := &s.fx.Plans[len(s.fx.Plans)-1]
		plan.Job, plan.After = j.Spec(), last
		return *j, nil
	}
	e := OnStopped // a cancel has overtaken it
	switch {
	case !lives:
		outcome = batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
	case past.Stops > mostStops:
		e, outcome = OnFailed, batch.Outcome{End: batch.EndFailed, ExitCode: outcome.ExitCode, Reason: fmt.Sprintf("it has stopped at a checkpoint %d times", past.Stops)}
	default:
		e, outcome = OnKilled, batch.Outcome{End: batch.EndKilled, Reason: "walltime of " + j.Shape.Walltime.String() + ", over all that it was started"}
	}
	s.command(batch.CmdCancel, last)
	return s.end(now, j, e, outcome, outputs)
}

// Ran says of each job of which that is known who has asked for it, for which service
// and how long it was said to run and ran, in the order in which they have ended: what
// a policy has learned in an earlier life.
func (s *Site) Ran(each func(owner, service string, estimate, runtime batch.Duration)) {
	var ended []*Job
	for _, j := range s.book.order {
		if j != nil && j.Kept && (j.State == Done || j.State == Failed || j.State == Killed) && j.Started != batch.Never {
			ended = append(ended, j)
		}
	}
	slices.SortStableFunc(ended, func(a, b *Job) int { return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.ID, b.ID)) })
	for _, j := range ended {
		ran := j.past().Done + max(j.Ended.Sub(j.Started), 0)
		if j.State == Killed { // who knows how long it would have run: longer than this
			ran = max(ran, j.Shape.Walltime)
		}
		each(j.Owner, j.Service, j.Shape.Walltime, ran)
	}
}
