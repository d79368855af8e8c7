package batch

// Launch says how often a program is started that has several nodes.
type Launch uint8

// The ways to launch a program.
const (
	// LaunchOnce starts it on the node where it has most processors, of equals the
	// first in the platform's order; it is told of the others. On virtual nodes of one
	// host there is nothing else to choose.
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

// ParseLaunch returns the way that has the name, and whether there is one.
func ParseLaunch(name string) (Launch, bool) {
	for l, n := range launchNames {
		if n == name {
			return Launch(l), true
		}
	}
	return LaunchOnce, false
}
