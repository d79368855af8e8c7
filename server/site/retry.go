package site

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Past sums up the earlier attempts of a job that were stopped at a checkpoint.
type Past struct {
	Stops   uint32         `json:"stops"`
	Done    batch.Duration `json:"done"`    // run time of all of them
	Started batch.Time     `json:"started"` // start of the first
	Stopped batch.Time     `json:"stopped"` // stop of the last
}

// maxStops limits how often a job continues from a checkpoint, in case a program stops again and
// again without being asked to.
const maxStops = 100

// past returns a job's past, the zero Past for none.
func (j *Job) past() Past {
	if j.Past == nil {
		return Past{}
	}
	return *j.Past
}

// begun returns when the job first started.
func (j *Job) begun() batch.Time {
	if j.Past != nil {
		return j.Past.Started
	}
	return j.Started
}

// resumable reports whether the job can be launched again if the end of its attempt was not
// observed: it can be executed twice, or it continues from its last checkpoint and repeats only
// what followed.
func (j *Job) resumable() bool { return j.Needs.Restartable || j.Past != nil }

// left returns the walltime left for the present attempt. It is at least a second, even for a job
// that was stopped in its last second.
func (j *Job) left() batch.Duration {
	if j.Past == nil {
		return j.Shape.Walltime
	}
	return max(j.Shape.Walltime-j.Past.Done, batch.Second)
}

// Begun returns when the job first started, Never before.
func (j *Job) Begun() batch.Time { return j.begun() }

// stopped requeues a job after its attempt stopped at a checkpoint; another attempt continues from
// there. The batch system keeps the processors until it learns what follows, so it gets a cancel if
// nothing does.
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
	if lives && past.Stops <= maxStops && past.Done < j.Shape.Walltime {
		s.requeue(now, j)
		s.change(j, func() { j.Past, j.FailedAttempts = &past, 0 })
		plan := &s.fx.Plans[len(s.fx.Plans)-1]
		plan.Job, plan.After = j.Spec(), last
		return *j, nil
	}
	e := OnStopped // a cancel came first
	switch {
	case !lives:
		outcome = batch.Outcome{End: batch.EndCancelled, Reason: "cancelled"}
	case past.Stops > maxStops:
		e, outcome = OnFailed, batch.Outcome{
			End: batch.EndFailed, ExitCode: outcome.ExitCode,
			Reason: fmt.Sprintf("it has stopped at a checkpoint %d times", past.Stops),
		}
	default:
		e, outcome = OnKilled,
			batch.Outcome{
				End:    batch.EndKilled,
				Reason: "walltime of " + j.Shape.Walltime.String() + ", over all that it was started",
			}
	}
	s.command(batch.CmdCancel, last)
	return s.end(now, j, e, outcome, outputs)
}

// Runtimes calls each for all completed jobs that are on record, in the order of their ends, with
// the owner, the service, the walltime and the runtime. A learning policy restores from them what
// it knew before a restart.
func (s *Site) Runtimes(each func(owner, service string, estimate, runtime batch.Duration)) {
	var ended []*Job
	for _, j := range s.book.order {
		if j != nil && j.Kept && (j.State == Done || j.State == Failed || j.State == Killed) &&
			j.Started != batch.Never {
			ended = append(ended, j)
		}
	}
	slices.SortStableFunc(ended, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range ended {
		ran := j.past().Done + max(j.Ended.Sub(j.Started), 0)
		if j.State == Killed { // its true runtime is longer than this
			ran = max(ran, j.Shape.Walltime)
		}
		each(j.Owner, j.Service, j.Shape.Walltime, ran)
	}
}

// maxExitCode is the largest exit code of a program, and the largest number of codes in a request.
const maxExitCode = 255

// Retries says how often and after which exit codes a failed job is restarted.
type Retries struct {
	Most int32 `json:"most"`
	// On holds exit codes, 1..255; empty for all. A signal counts as 128 plus its number, as in a
	// shell.
	On []int32 `json:"on,omitempty"`
}

// validateRetries checks the retries of a request.
func (r *Request) validateRetries() error {
	switch {
	case len(r.RetryOn) > 0 && r.Retries == 0:
		return problem.Field(problem.BadValue, "request.retry_on", "exit codes together with retries",
			"exit codes, and no retries")
	case len(r.RetryOn) > maxExitCode:
		return problem.Field(problem.OutOfRange, "request.retry_on", fmt.Sprintf("at most %d exit codes", maxExitCode),
			"%d", len(r.RetryOn))
	}
	for i, code := range r.RetryOn {
		if code < 1 || code > maxExitCode {
			return problem.Field(problem.OutOfRange, fmt.Sprintf("request.retry_on[%d]", i),
				fmt.Sprintf("1..%d", maxExitCode), "exit code %d", code)
		}
	}
	return nil
}

// retries returns the retries of a request; nil for none.
func retries(r *Request) *Retries {
	if r.Retries == 0 {
		return nil
	}
	return &Retries{Most: r.Retries, On: r.RetryOn}
}

// mayRetry reports whether an end allows a retry. Only an exit code or a signal of the program
// does; a failed launch or a lost attempt says nothing about the program.
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

// retriable reports whether a job can wait for another attempt because it is still at this site. A
// job that is being handed over and fails before the claim is answered has started here.
func (s *Site) retriable(now batch.Time, j *Job, lives bool) bool {
	if !lives && (j.State != Yielding || j.Cancel) {
		return false
	}
	if j.Needs.Into == "" {
		return true
	}
	_, err := s.activeReservation(now, j.Needs.Into)
	return err == nil
}

// retry queues a failed job again as the last one. It starts from the beginning, even if it had
// stopped at a checkpoint.
func (s *Site) retry(now batch.Time, j *Job) {
	if j.Needs.Agreed != nil && j.startedTooLate() { // a retry cannot keep it
		s.settleAgreement(j)
	}
	s.change(j, func() {
		j.Retried++
		j.Past, j.FailedAttempts = nil, 0
		j.Order = s.book.next()
	})
	s.requeue(now, j)
}
