package process

import (
	"bytes"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"

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
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return false
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // gone in the meantime
		}
		// pid (command) state parent group …; the command may hold anything.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(pgid) {
			continue
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			return false
		}
	}
	return true
}
