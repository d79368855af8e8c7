package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Mark is the variable by which the processes of a program are known for its
// own after whoever started it is gone.
const Mark = "DROVER_ATTEMPT"

// KillRest kills what is left of the group of a leader that ended just now under
// the eyes of the caller, and returns when nobody is left.
func (id ID) KillRest() (left bool) {
	_ = syscall.Kill(-id.Pid, syscall.SIGKILL) // an error means nobody is left
	return !awaitGone(id.Pid)
}

// KillMarked kills what is left of the group of a leader that ended at a time
// nobody knows, so that the number of the group may be another's by now: only
// processes whose environment has Mark with this value are killed.
func (id ID) KillMarked(mark string) (left bool, err error) {
	want := []byte(Mark + "=" + mark)
	deadline := time.Now().Add(GoneWait)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		found, err := killMarked(id.Pid, want)
		if err != nil || found == 0 {
			return false, err
		}
		if time.Now().After(deadline) {
			return true, nil
		}
		time.Sleep(pause)
	}
}

func killMarked(pgid int, want []byte) (found int, err error) {
	pids, err := members(pgid)
	if err != nil {
		return 0, fmt.Errorf("processes of group %d: %w", pgid, err)
	}
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // gone in the meantime
		}
		// What is read after the descriptor was opened is read of the process
		// that the descriptor is of, or of none.
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && hasVariable(env, want) {
			found++
			err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(fd) // nothing was written to it
		if err != nil && errors.Is(err, unix.EPERM) {
			return found, fmt.Errorf("kill process %d: %w", pid, err)
		}
	}
	return found, nil
}

func hasVariable(env, want []byte) bool {
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(v, want) {
			return true
		}
	}
	return false
}
