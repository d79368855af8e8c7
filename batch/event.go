package batch

// EventKind is the kind of an Event.
type EventKind uint8

// The events a driver reports to a policy.
const (
	// Submit: Spec arrives and waits, last in submission order.
	Submit EventKind = iota + 1
	// Cancel: Job, which waits, is held or is incoming, leaves without having run.
	// Cancelling a reservation releases its window.
	Cancel
	// Finish: Job, which was started, has ended in any way, also while it was paused.
	Finish
	// StartFailed: Job could not be launched. It waits again at its old position in the
	// order, and its capacity is free.
	StartFailed
	// Stopped: Job has left its processors, because it was paused, migrated or
	// preempted. Progress is the work done; Checkpoint says whether it can continue
	// from there. A resident job with Checkpoint continues on its own nodes. Stopped
	// without Checkpoint for a paused resident job means that its memory is lost.
	Stopped
	// Resumed: Job, which was resumed or migrated, has its state back and makes progress
	// from now on. Until then it held its allocation idle.
	Resumed
	// Hold: Job, which waits or is incoming, leaves the plan but not the order, and
	// cannot start until it is placed.
	Hold
	// Place: Job, which waits or is held, enters the plan with Shape: last, or with
	// Restore at the position of its submission or reservation. It confirms an incoming
	// job that was held.
	Place
	// Reserve: Spec gets a slot in the plan but cannot start (an incoming job), or a
	// window is booked (an advance reservation).
	Reserve
	// Confirm: Job, which was reserved, waits from now on like a submitted one.
	Confirm
	// NodeUp and NodeDown: Node joins or leaves. Each job on a node that leaves gets its
	// own Finish or Stopped, also a paused resident one. A job without either when the
	// last of its nodes is back has run all the time.
	NodeUp
	NodeDown
	// WindowOpen and WindowClose: the reservation Job begins and ends. While it is open,
	// jobs with Into == Job may start on its processors. At one instant windows close
	// before others open. After WindowClose, or a Cancel, the handle is free: the policy
	// kills jobs that still run in the window, and the driver cancels those that wait
	// for it.
	//
	// A window opens short of processors if nodes are down or a job overruns. It has
	// priority over all other jobs for what is there.
	WindowOpen
	WindowClose
	// Adopt: Spec has been running since Since on Allocation; the driver found it at its
	// start. It is booked until Since plus its walltime, or as a job that overruns, and
	// ends like a started job.
	Adopt
	// Measured: each task of a Group of Job needs CPU and Memory from now on, as far as
	// measured; this overrides Spec. A policy that does not use needs ignores it.
	Measured
)

// Event is something that happened at one instant. It is passed by pointer and
// may be reused by the driver after the call.
type Event struct {
	Kind       EventKind
	Job        Handle
	Node       int32
	Restore    bool     // Place: at its position in submission order
	Checkpoint bool     // Stopped: can continue from Progress
	Broken     bool     // Finish: killed because it could not be paused
	Progress   Duration // Stopped: work done, in time at full share
	Shape      Shape    // Place: the shape to plan with
	Spec       *Job     // Submit, Reserve, Adopt

	Group  int32 // Measured: index in Job.Groups; 0 without groups
	CPU    Share // Measured: 1..One
	Memory int64 // Measured: bytes; 0: unknown, the need stays as it was

	Since      Time             // Adopt: not after now
	Allocation []NodeAllocation // Adopt: as in Decision
}

var eventNames = [...]string{
	Submit: "submit", Cancel: "cancel", Finish: "finish", StartFailed: "start-failed", Stopped: "stopped",
	Resumed: "resumed", Hold: "hold",
	Place: "place", Reserve: "reserve", Confirm: "confirm", NodeUp: "node-up", NodeDown: "node-down",
	WindowOpen: "window-open", WindowClose: "window-close", Adopt: "adopt", Measured: "measured",
}

// String returns the event's name.
func (k EventKind) String() string {
	if int(k) < len(eventNames) && eventNames[k] != "" {
		return eventNames[k]
	}
	return "unspecified"
}
