package rusage

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// ProcessorTime returns the processor time of this process. On a busy machine it says
// more than the elapsed time.
func ProcessorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// PeakMemory returns the largest memory this process has had, in bytes.
func PeakMemory() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return r.Maxrss * 1024 // Linux counts in KiB
}

// PeakOf returns the largest memory another process has had, in bytes; 0 if unknown.
func PeakOf(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var kib int64
	if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
		_, _ = fmt.Sscan(after, &kib)
	}
	return kib * 1024
}
