package swf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Unknown is the value of a field that the log does not have.
const Unknown = -1

// Job is one line of a workload. Times are in whole seconds, memory in whole KB per processor.
// Any field but ID and Submit can be [Unknown].
type Job struct {
	ID      int64 // job number, by convention from 1
	Submit  int64 // since the start of the log
	Wait    int64 // from submission to start
	Run     int64 // from start to end
	AvgCPU  int64 // CPU time used, mean over its processors
	UsedMem int64 // memory used, mean over its processors
	ReqTime int64 // requested runtime: the user's estimate
	ReqMem  int64 // requested memory
	// PrecedingJob is the ID of the job that this one had to wait for, ThinkTime the time from
	// its end to this submission.
	PrecedingJob int64
	ThinkTime    int64

	UsedProcs int32 // allocated processors
	ReqProcs  int32 // requested processors
	User      int32
	Group     int32
	App       int32 // executable
	Queue     int32 // 0 means interactive, by convention
	Partition int32
	Status    int8 // see StatusFailed and following
}

// Values of [Job.Status].
const (
	StatusFailed        = 0
	StatusCompleted     = 1
	StatusPartial       = 2 // part of a checkpointed job, more to come
	StatusPartCompleted = 3 // the last part, completed
	StatusPartFailed    = 4 // the last part, failed
	StatusCancelled     = 5
)

// Trace is a whole workload.
type Trace struct {
	Header Header
	// Jobs are in order of submission.
	Jobs []Job
	// Reordered counts the jobs that the file has after a later submission, against the
	// standard.
	Reordered int
	// Normalized counts the fields with a negative value other than -1.
	Normalized int
}

// sortBySubmit sorts jobs by submission and keeps the order of equal times. Jobs are large and
// unordered logs rare, so it sorts positions and then moves every job once.
func sortBySubmit(jobs []Job) {
	from := make([]int32, len(jobs)) // MaxJobs fits
	for i := range from {
		from[i] = int32(i)
	}
	slices.SortFunc(from, func(a, b int32) int {
		return cmp.Or(cmp.Compare(jobs[a].Submit, jobs[b].Submit), cmp.Compare(a, b))
	})
	// Follow each cycle of the permutation; from[i] == i marks a finished position.
	for start := range from {
		if from[start] == int32(start) {
			continue
		}
		held := jobs[start]
		at := int32(start)
		for {
			next := from[at]
			from[at] = at
			if next == int32(start) {
				jobs[at] = held
				break
			}
			jobs[at] = jobs[next]
			at = next
		}
	}
}

// ParseError reports where a workload violates the format, and the accepted values.
type ParseError struct {
	Path   string // of the file; empty for other sources
	Line   int    // counted from 1
	Field  Field  // 0: the whole line
	Value  string // cut to 64 bytes; empty if there is none
	Reason string // the problem and the accepted range
}

// Error returns a text such as
//
//	kth.swf.gz:17: field 9 (requested time) "3h": not a number; accepted: 0 to ...
func (e *ParseError) Error() string {
	var b strings.Builder
	if e.Path == "" {
		fmt.Fprintf(&b, "swf: line %d:", e.Line)
	} else {
		fmt.Fprintf(&b, "swf: %s:%d:", e.Path, e.Line)
	}
	if e.Field != 0 {
		fmt.Fprintf(&b, " field %d (%s)", int(e.Field), e.Field)
	}
	if e.Value != "" {
		fmt.Fprintf(&b, " %q", e.Value)
	}
	b.WriteString(": " + e.Reason)
	return b.String()
}

// maxValueBytes bounds the part of a wrong value in an error.
const maxValueBytes = 64

// clip copies the start of a token, for an error.
func clip(token []byte) string {
	return string(token[:min(len(token), maxValueBytes)])
}
