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
	"syscall"
	"time"
)

// members are the processes of a group if the host has only signals: those whose process
// group was added.
type members struct {
	table *table

	mu      sync.Mutex
	leaders map[int]int64   // process groups, by the start time of the leader
	known   map[int]*member // the counted processes
	looked  time.Time       // when known was updated
	total   time.Duration   // processor time
	memory  int64
	peak    int64
}

type member struct {
	start    int64
	clock    time.Duration // its processor time at the last update
	counted  time.Duration // the part of it that was counted here
	children time.Duration
}

func newMembers(t *table) *members {
	return &members{table: t, leaders: map[int]int64{}, known: map[int]*member{}}
}

// add adds a process group by its leader.
func (m *members) add(pid int) error {
	s, err := m.table.one(pid)
	if err != nil {
		return err
	}
	if s.dead() {
		return os.ErrProcessDone
	}
	if s.group != pid || pid == syscall.Getpgrp() {
		return fmt.Errorf("%w: process %d is in process group %d, and must lead one that is not this process's",
			ErrInvalid, pid, s.group)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if start, ok := m.leaders[pid]; ok && start == s.start {
		return nil
	}
	m.leaders[pid] = s.start
	m.forget(pid)
	// What it has used before does not belong to the group.
	clock, _ := processClock(pid)
	m.known[pid] = &member{start: s.start, clock: clock, children: s.children}
	return nil
}

// forget drops a process after its number was reused.
func (m *members) forget(pid int) { delete(m.known, pid) }

// signal sends sig to all processes. It is not an error if none is left.
func (m *members) signal(sig syscall.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The owners of the numbers are checked at least each second.
	if _, err := m.refresh(time.Second); err != nil {
		return err
	}
	var all []error
	for group := range m.leaders {
		switch err := syscall.Kill(-group, sig); {
		case errors.Is(err, syscall.ESRCH):
			delete(m.leaders, group)
		case err != nil:
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// refresh updates known, unless it is younger than age, and returns the processes without
// zombies.
func (m *members) refresh(age time.Duration) ([]stat, error) {
	by, at, err := m.table.look(age)
	if err != nil {
		return nil, err
	}
	var there []stat
	for group, start := range m.leaders {
		of := by[group]
		for _, s := range of {
			if s.pid == group && s.start != start {
				// The number was reused.
				delete(m.leaders, group)
				of = nil
				break
			}
		}
		there = append(there, of...)
	}
	if !at.Equal(m.looked) {
		m.count(there)
		m.looked = at
	}
	living := there[:0]
	for _, s := range there {
		if !s.dead() {
			living = append(living, s)
		}
	}
	return living, nil
}

// count adds the current processes. The kernel adds the time of a child to its parent when
// the child is reaped; the part that was counted while it lived is subtracted.
func (m *members) count(there []stat) {
	seen := make(map[int]bool, len(there))
	var waited, gone time.Duration
	m.memory = 0
	for _, s := range there {
		k := m.known[s.pid]
		if k != nil && k.start != s.start {
			gone += k.counted
			k = nil
		}
		if k == nil {
			k = &member{start: s.start}
			m.known[s.pid] = k
		}
		seen[s.pid] = true
		waited += s.children - k.children
		k.children = s.children
		m.memory += s.resident
	}
	for pid, k := range m.known {
		if !seen[pid] {
			gone += k.counted
			delete(m.known, pid)
		}
	}
	m.total += max(waited-gone, 0)
	m.peak = max(m.peak, m.memory)
}

// used returns the processor time of all processes. New ones are found within a second, or at
// once.
func (m *members) used(fresh bool) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	age := time.Second
	if fresh {
		age = 0
	}
	_, _ = m.refresh(age) // without /proc the known processes still count
	return m.clocks()
}

func (m *members) clocks() time.Duration {
	for pid, k := range m.known {
		if now, ok := processClock(pid); ok && now > k.clock {
			m.total += now - k.clock
			k.counted += now - k.clock
			k.clock = now
		}
	}
	return m.total
}

type measured struct {
	cpu          time.Duration
	memory, peak int64
}

func (m *members) measure() (measured, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.refresh(cyclePeriod); err != nil {
		return measured{}, err
	}
	return measured{cpu: m.clocks(), memory: m.memory, peak: m.peak}, nil
}

// pids returns the living processes.
func (m *members) pids() ([]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	there, err := m.refresh(0)
	pids := make([]int, len(there))
	for i, s := range there {
		pids[i] = s.pid
	}
	return pids, err
}

// stopped reports whether all processes have stopped.
func (m *members) stopped() (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	there, err := m.refresh(0)
	for _, s := range there {
		if s.state != 'T' && s.state != 't' {
			return false, err
		}
	}
	return true, err
}

// stat holds fields of /proc/PID/stat.
type stat struct {
	pid, group int
	state      byte
	start      int64         // clock ticks after boot
	children   time.Duration // processor time of reaped children
	resident   int64         // bytes
}

func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// parseStat parses the text of /proc/PID/stat.
func parseStat(text string) (stat, error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("stat of a process: no name in parentheses")
	}
	// The name can contain any character, so fields are counted after its end.
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

// table holds all processes of the host, by process group. One scan of /proc serves all
// groups.
type table struct {
	proc string

	mu sync.Mutex
	at time.Time
	by map[int][]stat
}

// look returns the processes, from a scan not older than age.
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
