package main

import (
	"syscall"
	"time"
)

// processorTime returns the time that all processors have worked for the process: on
// a machine that others use, too, it says more than a clock.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
