package swf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Unknown is the value of a field the log does not tell.
const Unknown = -1

// Job is one line of a workload. All times are in whole seconds, all memory in
// whole KB per processor. Any field but ID and Submit may be [Unknown].
type Job struct {
	ID      int64 // job number, by custom counted from 1
	Submit  int64 // when it was submitted, from the start of the log
	Wait    int64 // from submission to start
	Run     int64 // from start to end
	AvgCPU  int64 // CPU time used, mean over its processors
	UsedMem int64 // memory used, mean over its processors
	ReqTime int64 // run time asked for: the user's estimate
	ReqMem  int64 // memory asked for
	// PrecedingJob is the ID of the job this one had to wait for, and
	// ThinkTime what passed between that one's end and this submission.
	PrecedingJob int64
	ThinkTime    int64

	UsedProcs int32 // processors it got
	ReqProcs  int32 // processors it asked for
	User      int32
	Group     int32
	App       int32 // executable
	Queue     int32 // 0 means interactive, by custom
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
	// Reordered is how many jobs stood in the file after one that was submitted
	// later than them, against the standard.
	Reordered int
	// Normalized is how many fields held a negative value other than -1.
	Normalized int
}

// sortBySubmit puts jobs in order of submission, equal times in the order they
// have. Jobs are large and logs out of order rare, so it sorts positions and
// then moves every job once.
func sortBySubmit(jobs []Job) {
	from := make([]int32, len(jobs)) // MaxJobs fits
	for i := range from {
		from[i] = int32(i)
	}
	slices.SortFunc(from, func(a, b int32) int {
		return cmp.Or(cmp.Compare(jobs[a].Submit, jobs[b].Submit), cmp.Compare(a, b))
	})
	// Follow each cycle of the permutation; from[i] == i marks a place as done.
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

// ParseError says where a workload breaks the format, and what would have been
// accepted there.
type ParseError struct {
	Path   string // file, empty when read from elsewhere
	Line   int    // counted from 1
	Field  Field  // 0 when the whole line is meant
	Value  string // what stands there, cut to 64 bytes; empty when nothing does
	Reason string // what is wrong, and the accepted range
}

// Error reads like
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

// maxValueBytes is how much of a wrong value an error repeats.
const maxValueBytes = 64

// clip copies the start of a token, for an error.
func clip(token []byte) string {
	return string(token[:min(len(token), maxValueBytes)])
}
