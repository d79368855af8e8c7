//go:build unix && !linux

package daemon

// hostMemory is unknown here.
func hostMemory() int64 { return 0 }
