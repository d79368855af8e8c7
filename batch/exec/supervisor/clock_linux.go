package supervisor

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is the time since the boot of the host, during which it may have slept.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("clock since boot: " + err.Error()) // there since Linux 2.6.39
	}
	return time.Duration(now.Nano())
}
