package cgroup

import (
	"time"

	"golang.org/x/sys/unix"
)

// processClock reads the processor time of a process, all its threads together,
// in far less time than /proc needs, and to the nanosecond.
func processClock(pid int) (time.Duration, bool) {
	var ts unix.Timespec
	// The clock of a process is its number's complement, and 2 says which of its
	// clocks: clock_getcpuclockid(3).
	if err := unix.ClockGettime(int32(^pid<<3|2), &ts); err != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
