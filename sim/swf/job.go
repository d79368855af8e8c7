package swf

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
