package batch

// CheckpointStatus is the exit status of a program that was told to make place, has
// written down how far it has come, and is to be started again to go on from there.
const CheckpointStatus = 85

// Checkpoint says how a program is told to write down how far it has come and to end.
// With both a command and a signal the signal follows when the command has succeeded.
type Checkpoint struct {
	// Signal is sent to all of its processes; its name, as SIGTERM, or "" for none.
	Signal string
	// Command is run beside it, with its environment and in its directory; nil for none.
	Command []string
	// After is how long after its launch a program can be told: before, it may not have
	// come so far as to listen, and a signal would kill it.
	After Duration
	// Grace is how long all of that may take. Afterwards it is killed.
	Grace Duration
}
