package batch

// CheckpointStatus is the exit status of a program that saved its progress on request
// and is to be started again to continue.
const CheckpointStatus = 85

// Checkpoint is how a program is asked to save its progress and exit. With both a
// command and a signal, the signal follows a successful command.
type Checkpoint struct {
	// Signal is sent to all processes of the job, by name ("SIGTERM"); "" for none.
	Signal string
	// Command runs in the job's environment and directory; nil for none.
	Command []string
	// After is the time from a launch until the program can be asked. An earlier signal
	// could kill it, because its handler is not installed yet.
	After Duration
	// Grace bounds the whole checkpoint; then the job is killed.
	Grace Duration
}
