//go:build unix && !linux

package daemon

// hostMemory is not known here.
func hostMemory() int64 { return 0 }
