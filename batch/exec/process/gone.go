package process

import (
	"errors"
	"syscall"
	"time"
)

// GoneWait is how long a killed group may take to disappear before its end is
// told all the same: a process in an uninterruptible call to a dead file server
// must not block a site for good.
const GoneWait = 30 * time.Second

// awaitGone waits until nobody of the group is alive, at most for GoneWait.
func awaitGone(pgid int) bool {
	const patience = 16 * time.Millisecond
	deadline := time.Now().Add(GoneWait)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) {
			return true
		}
		// Dead processes that nobody reaps count for kill. Looking closer costs
		// more, and is only done when the parent takes its time.
		if pause > patience && onlyDead(pgid) {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}
