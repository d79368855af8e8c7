package site

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

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
