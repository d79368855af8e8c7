package bound

import "fmt"

// JobError says which job cannot be bounded, and why.
type JobError struct {
	Index    int    // in the jobs that were given
	Field    string // release, length or rate
	Value    int64
	Accepted string
}

func (e *JobError) Error() string {
	return fmt.Sprintf("bound: job %d: %s %d: accepted: %s", e.Index, e.Field, e.Value, e.Accepted)
}

// RangeError says that the jobs together are beyond what 64 bits of
// microseconds can hold, or a number is that all of them have in common.
type RangeError struct {
	What     string
	Accepted string
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("bound: %s: accepted: %s", e.What, e.Accepted)
}
