package batch

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
