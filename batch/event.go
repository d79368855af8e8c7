package batch

// EventKind says what happened.
type EventKind uint8

// The events a driver reports to a policy.
const (
	// Submit: Spec has arrived and waits, last in submission order.
	Submit EventKind = iota + 1
	// Cancel: Job, which waits, is held or is incoming, leaves without having
	// run. A reservation that is cancelled gives its window back.
	Cancel
	// Finish: Job, which was started, has ended, however it ended, be it while a resident
	// job was paused.
	Finish
	// StartFailed: Job could not be launched. It waits again at its old place in
	// the order, and what it took is free.
	StartFailed
	// Stopped: Job has left the processors it held, because it was paused,
	// migrated or preempted. Progress says how far it had come, Checkpoint
	// whether it can go on from there. A resident job that can goes on where it was, which
	// it does not leave; told of one that is paused, without a checkpoint, it means that
	// its memory is lost.
	Stopped
	// Resumed: Job, which was resumed or migrated, has its state back and goes on from
	// now, where it is. Until then it held its places and did nothing.
	Resumed
	// Hold: Job, which waits or is incoming, leaves the plan but not the order, and
	// cannot start until it is placed.
	Hold
	// Place: Job, which waits or is held, is put into the plan with Shape: as the
	// last one, or where its submission or reservation had put it if Restore is
	// set. An incoming job that was held is confirmed by it.
	Place
	// Reserve: Spec gets a place in the plan but cannot start (an incoming job),
	// or a window is set aside (an advance reservation).
	Reserve
	// Confirm: Job, which was reserved, waits from now on like a submitted one.
	Confirm
	// NodeUp and NodeDown: Node joins or leaves. Jobs on a node that leaves get
	// their own Finish or Stopped, resident ones that are paused there, too.
	// Those of which nothing has been told when the last of their nodes is back have
	// been there all the time.
	NodeUp
	NodeDown
	// WindowOpen and WindowClose: the reservation Job begins and ends; while it
	// is open, jobs with Into == Job may start on its processors. At one instant
	// windows close before others open. After WindowClose the handle is free;
	// jobs that still run in it are the policy's to kill, and those that wait for it, and
	// never will start, the driver's to Cancel. The same holds when it is cancelled.
	//
	// A window opens with less than it should have where nodes are down or a job runs on
	// past its end: what there is it has before everybody else.
	WindowOpen
	WindowClose
	// Adopt: Spec has been running since Since on Allocation: the driver found it there
	// when it began. It is booked until Since plus its walltime, or, if that has
	// passed, like any job that overruns. Ends as one that was started.
	Adopt
	// Measured: what each task of a Group of Job needs, as far as that is known by now, is
	// CPU and Memory, from now on and whatever its Spec says. A policy that does not use
	// needs ignores it.
	Measured
)

// Event is something that happened at one instant. It is passed by pointer and
// may be reused by the driver after the call.
type Event struct {
	Kind       EventKind
	Job        Handle
	Node       int32
	Restore    bool     // Place: back to the place in submission order
	Checkpoint bool     // Stopped: can go on from Progress
	Broken     bool     // Finish: it was to be paused, and had to be killed
	Progress   Duration // Stopped: work done, in time at full share
	Shape      Shape    // Place: the shape to plan with
	Spec       *Job     // Submit, Reserve, Adopt

	Group  int32 // Measured: index in Job.Groups; 0 without groups
	CPU    Share // Measured: 1..One
	Memory int64 // Measured: bytes; 0: nothing is known of it, and it stays as it was

	Since      Time             // Adopt: not after now
	Allocation []NodeAllocation // Adopt: as in Decision
}

var eventNames = [...]string{
	Submit: "submit", Cancel: "cancel", Finish: "finish", StartFailed: "start-failed", Stopped: "stopped", Resumed: "resumed", Hold: "hold",
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
