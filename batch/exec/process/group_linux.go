package process

import (
	"errors"
	osexec "os/exec"

	"golang.org/x/sys/unix"
)

// awaitLeader waits until the leader has ended, and leaves it to be reaped.
func awaitLeader(cmd *osexec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// leaderEnded reports whether the process, which nobody has reaped, has ended.
func leaderEnded(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

// onlyDead reports whether all processes of the group are dead and only wait to
// be reaped by their parent.
func onlyDead(pgid int) bool {
	left, err := members(pgid)
	return err == nil && len(left) == 0
}
