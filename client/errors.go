package client

import "fmt"

// EndError says that a job has ended, and not well.
type EndError struct {
	Job *Job
}

// Error names the job, its state and the reason.
func (e *EndError) Error() string {
	text := fmt.Sprintf("job %s at site %s: %s", e.Job.ID, e.Job.Site, e.Job.State)
	if e.Job.Outcome.Reason != "" {
		text += " (" + e.Job.Outcome.Reason + ")"
	}
	return text
}
