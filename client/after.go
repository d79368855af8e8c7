package client

import (
	"fmt"
	"strconv"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Bounds of what is said about retries, and of dependencies.
const (
	// MostRetries is how often a job can be started once more.
	MostRetries = 100
	// MostDependencies is how many jobs one job can come after.
	MostDependencies = 1000

	largestExitCode = 255
)

// After has the request start when these jobs are Done: until then it is Held at its
// site and keeps its place in the order. When one of them ends otherwise it is
// Cancelled, and its outcome says which. The jobs have to exist, so that nobody can
// wait for himself. Jobs may be given in several Args.
func After(jobs ...string) Arg { return after(jobs, false) }

// AfterAny is After, however the jobs end.
func AfterAny(jobs ...string) Arg { return after(jobs, true) }

func after(jobs []string, whatever bool) Arg {
	return func(r *request) {
		for _, id := range jobs {
			r.after = append(r.after, Dependency{Job: id, Any: whatever})
		}
	}
}

// Retry has the job started once more at its site when it has Failed with one of these
// exit codes, 1..255, or without any given with whatever code or signal; so many times
// at most, 0..MostRetries. It keeps its ID, and counts another Attempt.
func Retry(times int, codes ...int) Arg {
	return func(r *request) { r.retries, r.retryOn = times, codes }
}

// checkOrder refuses dependencies and retries that no server would take. A job that is
// named twice is named once, with the harder condition.
func (r *request) checkOrder() error {
	if r.retries < 0 || r.retries > MostRetries {
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.retries", Accepted: fmt.Sprintf("0..%d", MostRetries), Message: strconv.Itoa(r.retries),
		}
	}
	if len(r.retryOn) > 0 && r.retries == 0 {
		return &problem.Problem{
			Reason: problem.BadValue, Field: "request.retry_on", Accepted: "none without retries",
			Message: "exit codes after which no retry is wanted",
		}
	}
	for _, code := range r.retryOn {
		if code < 1 || code > largestExitCode {
			return &problem.Problem{
				Reason: problem.OutOfRange, Field: "request.retry_on", Accepted: fmt.Sprintf("1..%d", largestExitCode), Message: strconv.Itoa(code),
			}
		}
	}
	at := make(map[string]int)
	var once []Dependency
	for _, d := range r.after {
		if err := checkID(d.Job); err != nil {
			return &problem.Problem{Reason: problem.BadValue, Field: "request.after", Accepted: "IDs of jobs", Message: strconv.Quote(d.Job)}
		}
		if i, known := at[d.Job]; known {
			once[i].Any = once[i].Any && d.Any
			continue
		}
		at[d.Job] = len(once)
		once = append(once, d)
	}
	if len(once) > MostDependencies {
		return &problem.Problem{
			Reason: problem.OutOfRange, Field: "request.after", Accepted: fmt.Sprintf("%d jobs at most", MostDependencies), Message: fmt.Sprintf("%d jobs", len(once)),
		}
	}
	r.after = once
	return nil
}
