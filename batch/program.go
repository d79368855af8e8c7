package batch

// Program is what a batch system executes. Its arguments never pass through a
// shell.
type Program struct {
	Args   []string          // argument vector; Args[0] is the command
	Env    map[string]string // beyond the system's own DROVER_* variables
	Dir    string            // working directory, made if it is not there
	Stdout string            // file
	Stderr string            // file
	Append bool              // do not truncate the two files
	Launch Launch            // number of processes
	// Checkpoint is how it saves its progress when it is preempted; nil: it is stopped
	// in memory.
	Checkpoint *Checkpoint
}

// Launch is how many processes of a program start for a job on several nodes.
type Launch uint8

// The launch modes.
const (
	// LaunchOnce starts one process on the node with most of the job's processors; of
	// several, the first in the platform's order. Its environment names the others.
	// Virtual nodes of one host allow nothing else.
	LaunchOnce Launch = iota
	LaunchPerNode
	LaunchPerTask
)

var launchNames = [...]string{LaunchOnce: "once", LaunchPerNode: "per-node", LaunchPerTask: "per-task"}

// String returns the name that configurations use.
func (l Launch) String() string {
	if int(l) < len(launchNames) {
		return launchNames[l]
	}
	return "unspecified"
}

// ParseLaunch returns the launch mode of a name, false if there is none.
func ParseLaunch(name string) (Launch, bool) {
	for l, n := range launchNames {
		if n == name {
			return Launch(l), true
		}
	}
	return LaunchOnce, false
}

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
