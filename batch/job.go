package batch

import "fmt"

// JobID names a job for good, wherever it moves: a lower-case UUIDv7 made by
// the client.
type JobID string

// Handle names a job between one driver and one policy. It is a small dense
// integer from 1, so that a policy keeps its jobs in slices. A driver may reuse a
// handle after the job's Finish or Cancel.
type Handle int32

// NoJob is the handle of no job.
const NoJob Handle = 0

// Shape is a width and its walltime: a rectangle that a planner can place.
type Shape struct {
	Width    int32    // processors, at least 1
	Walltime Duration // the job is killed after it; at least 1 s on a live site
}

// Share is a fraction of one processor in units of 2^-20. Fixed point keeps
// sums of shares exact and every run the same.
type Share int32

// One is a whole processor.
const One Share = 1 << 20

// Origin is how a job came to the site.
type Origin uint8

// The origins of a job.
const (
	Grid  Origin = iota // through Drover: may be held and moved while it waits
	Local               // by a local user: never touched by reallocation
)

// Job is a job as a policy sees it. The driver makes it, passes it with Submit,
// Reserve or Adopt, and does not change it afterwards; the policy reads it and may
// keep the pointer until the job's end. A policy ignores fields that it does not
// use. Fields are ordered to save memory, because very many jobs may wait.
type Job struct {
	Handle Handle
	// CPU is the share of a processor that each task can use; 0 means One.
	CPU   Share
	Shape Shape // the shape of its menu that the site chose

	// Memory is the need of each task in bytes; 0 is unknown and not counted.
	Memory int64
	// Groups lists the tasks if they differ; nil means Width equal tasks with the CPU
	// and Memory above.
	Groups []TaskGroup
	// Licenses are the licenses it holds while it runs.
	Licenses []License

	EarliestStart Time // 0: at once
	Deadline      Time // desired completion; 0: none
	// Agreed says that the site has agreed to the Deadline in a service level
	// agreement. A planner gives the job a slot that ends by then and never a later one;
	// the job is not held or moved.
	Agreed bool

	// Window, if not nil, makes this an advance reservation: Width processors booked
	// from Start to End for jobs submitted with Into.
	Window *Window
	// Into is the reservation that this job runs in, or NoJob.
	Into Handle
	// Reference is the benchmark score of the machine for which Shape.Walltime was
	// estimated; 0: it holds on every machine.
	Reference int32

	Owner string // its user; unauthenticated until identity exists
	Name  string // its service, for predictions from history
	Site  string // site of its input data; "" if that does not matter
	Input int64  // bytes of input data

	// Done is the work that a checkpoint saved before this site's driver began;
	// Shape.Walltime is the rest of the estimate.
	Done Duration

	Origin Origin
	// Checkpoint says that a stopped job can continue from its progress.
	Checkpoint bool
	// Resident says that the state of its tasks cannot be saved: once started, the job
	// keeps its memory on its nodes, paused or not, until it ends or restarts from
	// scratch, and cannot continue elsewhere. Otherwise, as in the papers, pausing frees
	// its memory and it may continue anywhere.
	Resident bool
}

// TaskGroup is a number of equal tasks of one job.
type TaskGroup struct {
	Tasks  int32
	Memory int64 // bytes for each task
	CPU    Share // need of each task, 1..One
}

// License is a number of copies of a named license.
type License struct {
	Name   string
	Copies int32
}

// Window is the time of an advance reservation.
type Window struct{ Start, End Time }

// String formats a shape as WIDTHxWALLTIME.
func (s Shape) String() string { return fmt.Sprintf("%dx%v", s.Width, s.Walltime) }
