package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// peakOf returns the most memory another process has had, in bytes; 0 when it
// cannot be told.
func peakOf(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var kib int64
	if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
		_, _ = fmt.Sscan(after, &kib)
	}
	return kib * 1024
}

// peakMemory returns the most memory the process has had, in bytes.
func peakMemory() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return r.Maxrss * 1024 // Linux counts in KiB
}
