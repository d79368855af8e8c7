package process

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardPatience bounds a write to a guard.
const guardPatience = time.Second

// Guard is a process that waits until this one has ended, in whatever way, and then kills all
// processes in the control groups registered with it.
type Guard struct {
	gate []string

	mu    sync.Mutex
	to    *os.File // nil: there is no guard process
	id    int      // pidfd of the guard process
	files map[string]bool
}

// StartGuard starts a guard; gate is the command that calls Gate. The reaper of this
// process's children also reaps the guard: a killed one is replaced when the next group is
// added.
func StartGuard(gate []string) (*Guard, error) {
	g := &Guard{gate: gate, files: make(map[string]bool)}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g, g.start()
}

// start starts the process, and sends it all groups. The caller holds mu.
func (g *Guard) start() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start a guard: %w", err)
	}
	defer null.Close()
	theirs, ours, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start a guard: %w", err)
	}
	defer theirs.Close()
	// Descriptors as in a gate. Signals to this process's group must not reach it.
	_, err = syscall.ForkExec(g.gate[0], g.gate, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &g.id},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), theirs.Fd(), null.Fd()},
	})
	if err != nil {
		return errors.Join(fmt.Errorf("start a guard: %w", err), ours.Close())
	}
	g.to = ours
	head := binary.LittleEndian.AppendUint32(nil, guardOrder)
	return g.write(string(binary.LittleEndian.AppendUint32(head, 0)) + lines('+', slices.Sorted(maps.Keys(g.files))))
}

// Add registers control groups, by their GroupFile, before a process enters them.
func (g *Guard) Add(files []string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range files {
		g.files[f] = true
	}
	if g.to != nil && g.write(lines('+', files)) == nil {
		return nil
	}
	return g.start()
}

// Drop unregisters control groups that are empty.
func (g *Guard) Drop(files []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range files {
		delete(g.files, f)
	}
	if g.to != nil {
		_ = g.write(lines('-', files)) // a replacement receives only the remaining groups
	}
}

// write writes to the guard; one that does not read is replaced. The caller holds mu.
func (g *Guard) write(text string) error {
	_ = g.to.SetWriteDeadline(time.Now().Add(guardPatience)) // pipes support deadlines
	_, err := io.WriteString(g.to, text)
	if err == nil {
		return nil
	}
	// A guard that is merely slow would kill all its groups at the end of its pipe.
	if g.id >= 0 {
		_ = unix.PidfdSendSignal(g.id, unix.SIGKILL, nil, 0) // an error means that it has ended
		_ = unix.Close(g.id)                                 // nothing was written to it
	}
	_ = g.to.Close() // nothing was written to it
	g.to = nil
	return fmt.Errorf("write to the guard: %w", err)
}

// lines encodes a change of groups for a guard.
func lines(sign byte, files []string) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteByte(sign)
		b.WriteString(f)
		b.WriteByte('\n')
	}
	return b.String()
}

// guard reads the registered groups until its pipe is closed, and then kills all processes in
// them.
func guard(in io.Reader) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // it ends only with its starter
	ClearGroups(guarded(in))
}

// guarded reads changes, and returns the registered groups at the end.
func guarded(in io.Reader) []string {
	files := make(map[string]bool)
	for r := bufio.NewReader(in); ; {
		line, err := r.ReadString('\n')
		if err != nil { // a line without a newline is incomplete
			return slices.Sorted(maps.Keys(files))
		}
		switch file := line[1:max(1, len(line)-1)]; line[0] {
		case '+':
			files[file] = true
		case '-':
			delete(files, file)
		}
	}
}
