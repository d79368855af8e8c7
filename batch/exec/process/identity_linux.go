package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bootID is the kernel's ID of this boot.
var bootID = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot ID: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
})

// Identify returns the ID of the process with that number. It fails with fs.ErrNotExist if
// there is none.
func Identify(pid int) (ID, error) {
	boot, err := bootID()
	if err != nil {
		return ID{}, err
	}
	s, err := readStat(strconv.Itoa(pid))
	if err != nil {
		return ID{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return ID{Pid: pid, Start: s.start, Boot: boot}, nil
}

// Rebooted reports whether the host was rebooted after the process started.
func (id ID) Rebooted() (bool, error) {
	boot, err := bootID()
	return boot != id.Boot, err
}

// ticks is the number of ticks of ID.Start in a second: USER_HZ on all platforms of Go.
const ticks = 100

// Age returns the time since the start of the process. Changes of the wall clock do not
// affect it. It fails for a process of an earlier boot.
func (id ID) Age() (time.Duration, error) {
	again, err := id.Rebooted()
	if err == nil && again {
		err = fmt.Errorf("the host was rebooted: %w", fs.ErrNotExist)
	}
	var now unix.Timespec
	if err == nil {
		err = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	}
	if err != nil {
		return 0, fmt.Errorf("age of process %d: %w", id.Pid, err)
	}
	started := time.Duration(id.Start) * (time.Second / ticks)
	return max(time.Duration(now.Nano())-started, 0), nil
}

// Alive reports whether the process exists and is not a zombie.
func (id ID) Alive() (bool, error) {
	if again, err := id.Rebooted(); err != nil || again {
		return false, err
	}
	s, err := readStat(strconv.Itoa(id.Pid))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("process %d: %w", id.Pid, err)
	}
	return s.start == id.Start && !s.dead(), nil
}

// Await returns nil when the process has ended; it need not be a child. It does not block a
// thread.
func (id ID) Await(ctx context.Context) error {
	fd, err := unix.PidfdOpen(id.Pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watch process %d: %w", id.Pid, err)
	}
	watched := os.NewFile(uintptr(fd), "pidfd")
	defer watched.Close()
	// The number may have belonged to another process before it was opened; it cannot
	// afterwards.
	if alive, err := id.Alive(); err != nil || !alive {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = watched.Close() })
	defer stop()
	raw, err := watched.SyscallConn()
	if err != nil {
		return fmt.Errorf("watch process %d: %w", id.Pid, err)
	}
	err = raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("watch process %d: %w", id.Pid, err)
	}
	return nil
}

// stat holds the fields used of /proc/PID/stat.
type stat struct {
	state byte
	group int
	start uint64
}

func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

func readStat(pid string) (stat, error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return stat{}, err
	}
	// pid (command) state parent group …; the command can contain any character.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("%d fields, want 20 or more", len(fields))
	}
	group, err1 := strconv.Atoi(string(fields[2]))
	start, err2 := strconv.ParseUint(string(fields[19]), 10, 64)
	return stat{state: fields[0][0], group: group, start: start}, errors.Join(err1, err2)
}

// members returns the living processes of a group.
func members(pgid int) ([]int, error) {
	return living(func(s stat) bool { return s.group == pgid })
}

// living returns the living processes that are wanted.
func living(wanted func(stat) bool) ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// One that cannot be read has ended since.
		if s, err := readStat(name); err == nil && wanted(s) && !s.dead() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Mark is the environment variable that identifies the processes of a program after its
// starter is gone.
const Mark = "DROVER_ATTEMPT"

// KillRest kills the rest of the group of a leader after the caller has observed its end,
// and returns when all are gone.
func (id ID) KillRest() (left bool) {
	_ = syscall.Kill(-id.Pid, syscall.SIGKILL) // an error means that none is left
	return !awaitGone(id.Pid)
}

// KillMarked kills the rest of the group of a leader that ended at an unknown time. The
// number of the group may have been reused, so only processes with this value of Mark in
// their environment are killed.
func (id ID) KillMarked(mark string) (left bool, err error) {
	return killAll(mark, func() ([]int, error) { return members(id.Pid) })
}

// KillAllMarked kills all processes with this value of Mark in their environment, and returns when
// all are gone. It is for programs of which no process is known.
func KillAllMarked(mark string) (left bool, err error) {
	return killAll(mark, func() ([]int, error) { return living(func(stat) bool { return true }) })
}

func killAll(mark string, list func() ([]int, error)) (left bool, err error) {
	want := []byte(Mark + "=" + mark)
	deadline := time.Now().Add(GoneWait)
	for pauses := newPauses(); ; {
		found, err := killMarked(list, want)
		if err != nil || found == 0 {
			return false, err
		}
		if time.Now().After(deadline) {
			return true, nil
		}
		time.Sleep(pauses.NextBackOff())
	}
}

func killMarked(list func() ([]int, error), want []byte) (found int, err error) {
	pids, err := list()
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended since
		}
		// What is read after the descriptor was opened belongs to the process of the
		// descriptor, or to none.
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

// awaitLeader waits until the leader has ended, and does not reap it.
func awaitLeader(cmd *osexec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// leaderEnded reports whether the process, which is not reaped yet, has ended.
func leaderEnded(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

// onlyDead reports whether all processes of the group are zombies.
func onlyDead(pgid int) bool {
	left, err := members(pgid)
	return err == nil && len(left) == 0
}
