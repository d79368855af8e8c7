package main

import "syscall"

// peakMemory returns the most memory the process has had, in bytes.
func peakMemory() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return r.Maxrss * 1024 // Linux counts in KiB
}
