package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stat is what /proc says of a process.
type stat struct {
	pid, group int
	state      byte
	start      int64         // clock ticks after boot
	children   time.Duration // processor time of children it has waited for
	resident   int64         // bytes
}

func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// tick is the kernel's unit of processor time in /proc.
const tick = 10 * time.Millisecond

// parseStat reads the text of /proc/PID/stat.
func parseStat(text string) (stat, error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("stat of a process: no name in parentheses")
	}
	// The name may hold anything, so that fields are counted from behind it.
	f := strings.Fields(text[end+1:])
	if len(f) < 22 {
		return stat{}, fmt.Errorf("stat of a process: %d fields behind its name, want at least 22", len(f))
	}
	var s stat
	var n [6]int64
	for i, at := range []int{2, 13, 14, 19, 21} {
		v, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("stat of a process: field %d: %w", at+3, err)
		}
		n[i] = v
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text[:open]))
	if err != nil {
		return stat{}, fmt.Errorf("stat of a process: its number: %w", err)
	}
	s.pid, s.group, s.state = pid, int(n[0]), f[0][0]
	s.children, s.start = time.Duration(n[1]+n[2])*tick, n[3]
	s.resident = n[4] * int64(os.Getpagesize())
	return s, nil
}

// table has all processes of the host, by process group. One look at /proc
// serves all groups.
type table struct {
	proc string

	mu sync.Mutex
	at time.Time
	by map[int][]stat
}

// look returns the processes as they were no longer ago than age.
func (t *table) look(age time.Duration) (map[int][]stat, time.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.by != nil && now.Sub(t.at) < age {
		return t.by, t.at, nil
	}
	entries, err := os.ReadDir(t.proc)
	if err != nil {
		return nil, now, err
	}
	by := map[int][]stat{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			s, err := t.one(pid)
			if err == nil {
				by[s.group] = append(by[s.group], s)
			}
		}
	}
	t.by, t.at = by, now
	return by, now, nil
}

// one reads one process.
func (t *table) one(pid int) (stat, error) {
	text, err := os.ReadFile(filepath.Join(t.proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = os.ErrProcessDone
		}
		return stat{}, err
	}
	return parseStat(string(text))
}
