package site

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
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

// mostCodes is how many exit codes there are that a request can name.
const mostCodes = 255

// Retries says how often, and after what, a job that has failed is started once more.
type Retries struct {
	Most int32 `json:"most"`
	// On are exit codes, 1..255; empty for all. A signal counts as shells count it:
	// 128 and its number.
	On []int32 `json:"on,omitempty"`
}

// validateRetries checks what a request says of them.
func (r *Request) validateRetries() error {
	switch {
	case len(r.RetryOn) > 0 && r.Retries == 0:
		return problem.Field(problem.BadValue, "request.retry_on", "exit codes together with retries", "exit codes, and no retries")
	case len(r.RetryOn) > mostCodes:
		return problem.Field(problem.OutOfRange, "request.retry_on", fmt.Sprintf("at most %d exit codes", mostCodes), "%d", len(r.RetryOn))
	}
	for i, code := range r.RetryOn {
		if code < 1 || code > mostCodes {
			return problem.Field(problem.OutOfRange, fmt.Sprintf("request.retry_on[%d]", i), fmt.Sprintf("1..%d", mostCodes), "exit code %d", code)
		}
	}
	return nil
}

// retries returns what a request says of them; nil for nothing.
func retries(r *Request) *Retries {
	if r.Retries == 0 {
		return nil
	}
	return &Retries{Most: r.Retries, On: r.RetryOn}
}

// mayRetry says whether an end is followed by another try. Only what the program
// itself has come to is: it exited, or a signal has ended it. What could not be
// started, or was lost, says nothing of the program.
func (j *Job) mayRetry(o batch.Outcome) bool {
	r := j.Needs.Retries
	if r == nil || int32(j.Retried) >= r.Most || o.End != batch.EndFailed {
		return false
	}
	code := int32(o.ExitCode)
	if o.Signal != "" {
		code = 128 + int32(unix.SignalNum(o.Signal))
	}
	return code != 0 && (len(r.On) == 0 || slices.Contains(r.On, code))
}

// retriable says whether a job can wait for another try: it still has its place here. One
// that is being handed over, and has failed before the claim was answered, has started.
func (s *Site) retriable(now batch.Time, j *Job, lives bool) bool {
	if !lives && (j.State != Yielding || j.Cancel) {
		return false
	}
	if j.Needs.Into == "" {
		return true
	}
	_, err := s.within(now, j.Needs.Into)
	return err == nil
}

// retry lets a job that has failed wait for another try, as the last one. It begins
// anew, also if it had made place at a checkpoint.
func (s *Site) retry(now batch.Time, j *Job) {
	if j.Needs.Agreed != nil && j.late() { // which another try cannot mend
		s.judge(j)
	}
	s.change(j, func() {
		j.Retried++
		j.Past, j.Vain = nil, 0
		j.Order = s.book.next()
	})
	s.requeue(now, j)
}
