package batch

import "fmt"

// JobID names a job for good, wherever it moves: a lower-case UUIDv7 made by
// the client.
type JobID string

// Handle is a job's name between one driver and one policy: a small dense
// integer, so that a policy keeps its jobs in slices. A driver may use a handle
// again once the job's Finish or Cancel has been applied. The first one is 1.
type Handle int32

// NoJob is the handle of no job.
const NoJob Handle = 0

// Shape is a width and its walltime: a rectangle that a planner can place.
type Shape struct {
	Width    int32    // processors, at least 1
	Walltime Duration // after it the job is killed, at least 1 s on a live site
}

// Share is a fraction of one processor in units of 2^-20. Fixed point keeps
// sums of shares exact and every run the same.
type Share int32

// One is a whole processor.
const One Share = 1 << 20

// Origin says who brought a job to the site.
type Origin uint8

// The origins of a job.
const (
	Grid  Origin = iota // through Drover: may be held and moved while it waits
	Local               // by a local user: never touched by reallocation
)

// Job is what a policy is told about a job. The driver makes it, hands it over
// with Submit, Reserve or Adopt, and does not change it afterwards; the policy
// reads it and may keep the pointer until the job's end. What a policy does not
// use it ignores. Very many may wait: the order of the fields wastes no memory.
type Job struct {
	Handle Handle
	// CPU is the share of a processor that each task can use; 0 means One.
	CPU   Share
	Shape Shape // what it gets: one shape of its menu, chosen by the site

	// Memory is what each task needs, in bytes; 0 is not known and not counted.
	Memory int64
	// Groups lists the tasks where they differ; nil means Width equal ones of
	// Memory and CPU above.
	Groups []TaskGroup
	// Licenses are the licenses it holds while it runs.
	Licenses []License

	EarliestStart Time // not before; 0 for at once
	Deadline      Time // wanted completion; 0 for none
	// Agreed says that the site has agreed to the Deadline, in a service level
	// agreement. A planner gives it a place that ends by then and never a later one;
	// nobody holds or moves it.
	Agreed bool

	// Window, if not nil, makes this an advance reservation: Width processors set
	// aside from its Start to its End, for jobs submitted with Into.
	Window *Window
	// Into is the reservation this job runs in, or NoJob.
	Into Handle
	// Reference is the benchmark score of the machine on which Shape.Walltime
	// was estimated; 0: it holds on every machine.
	Reference int32

	Owner string // who asked for it; unauthenticated until identity exists
	Name  string // the service, for history-based guesses
	Site  string // where its input data lies, "" if that does not matter
	Input int64  // bytes of input data

	// Done is the work that a checkpoint has kept, before this site's driver began:
	// Shape.Walltime is what was left of the estimate.
	Done Duration

	Origin Origin // who brought it
	// Checkpoint says that a stopped job can go on from where it was.
	Checkpoint bool
	// Resident says that nothing can save the state of its tasks: once it has begun it
	// keeps its memory on its nodes, paused or not, until it ends or has to begin anew,
	// and goes on nowhere else. Otherwise, as in the papers, pausing frees its memory and
	// it may go on anywhere.
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
