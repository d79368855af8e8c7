package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bootID is the kernel's name of this boot.
var bootID = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("name of this boot: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
})

// Identify returns who the process of that number is. It fails with
// fs.ErrNotExist when there is none.
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

// Rebooted reports whether the host was started anew since the process was.
func (id ID) Rebooted() (bool, error) {
	boot, err := bootID()
	return boot != id.Boot, err
}

// ticks is how many of ID.Start are a second: what Linux tells programs on all
// that Go runs on.
const ticks = 100

// Age returns how long ago the process was started, whatever has been done to the
// wall clock since. It fails for a process of an earlier boot.
func (id ID) Age() (time.Duration, error) {
	again, err := id.Rebooted()
	if err == nil && again {
		err = fmt.Errorf("the host was restarted since: %w", fs.ErrNotExist)
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

// Alive reports whether the process is there, and not dead and only waiting to
// be reaped.
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

// Await returns nil when the process has ended, whoever's child it is. It holds
// no thread while it waits.
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
	// The number may have been another's when it was opened; it cannot become
	// another's afterwards.
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

// stat is what is used of /proc/PID/stat.
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
	// pid (command) state parent group …; the command may hold anything.
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
		// One that cannot be read is gone in the meantime.
		if s, err := readStat(name); err == nil && s.group == pgid && !s.dead() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
